#pragma once

#include <cstddef>
#include <optional>

#include "top/frame.hpp"

namespace skua::top {

// The lines above the sections. None is wider than `columns`. Pure.

/// The state, the address, the time, and `end`.
Line title_line(const Snapshot& snapshot, const View& view, const Origin& origin, const Line& end,
                std::size_t columns);
/// That the view is paused, and its interval.
Line view_text(const View& view);
/// The main numbers: as many as fit.
Line numbers_line(const Snapshot& snapshot, std::size_t columns);
/// That numbers are old, and why; nothing: they are not.
std::optional<Line> notice_line(const Snapshot& snapshot, const View& view, std::size_t columns);

}  // namespace skua::top
