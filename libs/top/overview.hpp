#pragma once

#include <cstddef>
#include <vector>

#include "top/line.hpp"
#include "top/sections.hpp"
#include "top/snapshot.hpp"

namespace skua::top {

/// The line above a section: its title, key and note, and how many of its rows are visible.
Line heading(const Section& section, std::size_t number, std::size_t visible, std::size_t columns);

/// All sections, or as many as fit: each has its heading and at least one row. In two columns if
/// there is room. At most `rows` lines, none wider than `columns`. Pure.
std::vector<Line> make_overview(const Snapshot& snapshot, std::size_t rows, std::size_t columns);

}  // namespace skua::top
