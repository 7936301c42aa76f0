#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "top/line.hpp"
#include "top/model.hpp"

namespace skua::top {

/// A part of the screen about one subject.
struct Section {
  std::string title;
  /// The main number of the section; it may be empty.
  std::string note;
  /// The lines are at most as wide as requested. There is at least one line, which may say that
  /// there is nothing to show.
  std::vector<Line> lines;
  /// The number of lines at the beginning that form the head of a table.
  std::size_t heads = 0;
};

/// Sections have the numbers from 1 on. The key of a section is the digit of its number.
inline constexpr std::size_t kSections = 9;

/// The names of the section numbers, for `make_section`.
namespace section {
inline constexpr std::size_t kProblems = 1;
/// The sources of a process, or the nodes of a query database.
inline constexpr std::size_t kSources = 2;
inline constexpr std::size_t kWorkers = 3;
inline constexpr std::size_t kCollections = 4;
inline constexpr std::size_t kConsumers = 5;
inline constexpr std::size_t kDeadLetters = 6;
inline constexpr std::size_t kBackfill = 7;
inline constexpr std::size_t kDatabase = 8;
inline constexpr std::size_t kPosts = 9;
}  // namespace section

/// Makes a section. Rows that need attention come first, because a small screen shows only the
/// first rows. The sections after the nodes of a query database say that each node has its own.
/// Pure.
Section make_section(std::size_t number, const Snapshot& snapshot, std::size_t width);

}  // namespace skua::top
