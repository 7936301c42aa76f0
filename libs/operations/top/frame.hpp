#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "top/line.hpp"
#include "top/model.hpp"
#include "top/view.hpp"

namespace skua::top {

/// The size of a terminal.
struct Size {
  std::size_t rows = 24;
  std::size_t columns = 80;
  bool operator==(const Size&) const = default;
};

/// The address and the time of a snapshot.
struct Origin {
  /// The URL of the pages.
  std::string address;
  Timestamp at;
};

/// The content of the screen.
struct Frame {
  /// There are as many lines as the terminal has rows, and none is wider than its columns.
  std::vector<Line> lines;
  /// The largest useful value of View::scroll.
  std::size_t most_scroll = 0;
  /// The number of lines of the section that are visible at the same time.
  std::size_t page = 0;
};

/// Draws the screen for a snapshot. Pure.
Frame make_frame(const Snapshot& snapshot, const View& view, const Origin& origin, Size size);

/// Returns a snapshot as a report with all sections. Pure.
std::vector<Line> make_report(const Snapshot& snapshot, const Origin& origin, std::size_t columns);

}  // namespace skua::top
