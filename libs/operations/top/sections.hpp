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
  /// Its main number; may be empty.
  std::string note;
  /// No line is wider than asked for. Never empty: one line says that there is nothing.
  std::vector<Line> lines;
  /// The lines at the beginning that explain the others: the head of a table.
  std::size_t heads = 0;
};

/// Sections have the numbers from 1 on, and the keys of these digits.
inline constexpr std::size_t kSections = 9;

/// Names for `make_section`.
namespace section {
inline constexpr std::size_t kProblems = 1;
inline constexpr std::size_t kSources = 2;
inline constexpr std::size_t kWorkers = 3;
inline constexpr std::size_t kCollections = 4;
inline constexpr std::size_t kConsumers = 5;
inline constexpr std::size_t kDeadLetters = 6;
inline constexpr std::size_t kBackfill = 7;
inline constexpr std::size_t kDatabase = 8;
inline constexpr std::size_t kPosts = 9;
}  // namespace section

/// Rows that need attention come first: a small screen shows the first ones only. Pure.
Section make_section(std::size_t number, const Snapshot& snapshot, std::size_t width);

}  // namespace skua::top
