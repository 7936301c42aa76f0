#include "top/overview.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "top/share.hpp"

namespace skua::top {
namespace {

constexpr std::size_t kTwoColumns = 120;
constexpr std::size_t kColumnGap = 3;

struct Part {
  std::size_t number = 0;
  Section section;
  /// With its heading.
  std::size_t size() const { return section.lines.size() + 1; }
  /// The heading and a row. The table of workers is shown whole: its rows belong together. A
  /// problem has its cure. `rows`: of the screen.
  std::size_t least(std::size_t rows) const {
    constexpr std::size_t kProblem = 4;
    if (number == section::kWorkers) return size();
    if (number == section::kProblems) return std::min(size(), std::max(kProblem, rows / 3));
    return std::min(size(), section.heads + 2);
  }
};

using Numbers = std::vector<std::size_t>;

std::vector<Part> parts_of(const Numbers& numbers, const Snapshot& snapshot, std::size_t width) {
  std::vector<Part> parts;
  parts.reserve(numbers.size());
  for (const std::size_t number : numbers) {
    parts.push_back({number, make_section(number, snapshot, width)});
  }
  return parts;
}

void add_part(const Part& part, std::size_t rows, std::size_t width, std::vector<Line>& lines) {
  const std::size_t visible = std::min(rows - 1, part.section.lines.size());
  lines.push_back(heading(part.section, part.number, visible, width));
  const auto first = part.section.lines.begin();
  lines.insert(lines.end(), first, first + static_cast<std::ptrdiff_t>(visible));
}

/// Parts below each other; the last ones are left out if there is no room.
std::vector<Line> stacked(std::vector<Part> parts, std::size_t rows, std::size_t width) {
  std::size_t least = 0;
  std::size_t fitting = 0;
  while (fitting < parts.size() && least + parts[fitting].least(rows) <= rows) {
    least += parts[fitting++].least(rows);
  }
  parts.resize(fitting);
  Numbers wanted;
  wanted.reserve(parts.size());
  for (const Part& part : parts) wanted.push_back(part.size() - part.least(rows));
  const Numbers more = shared_out(wanted, rows - least);
  std::vector<Line> lines;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    add_part(parts[i], parts[i].least(rows) + more[i], width, lines);
  }
  return lines;
}

std::vector<Line> side_by_side(const std::vector<Line>& left, const std::vector<Line>& right,
                               std::size_t width) {
  std::vector<Line> lines;
  lines.reserve(std::max(left.size(), right.size()));
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    Line line = i < left.size() ? left[i] : Line();
    if (i < right.size()) line.pad(width + kColumnGap).add(right[i]);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

Line heading(const Section& section, std::size_t number, std::size_t visible, std::size_t columns) {
  Line line(section.title, Style::Title);
  line.add(fmt::format(" [{}]", number), Style::Quiet);
  if (!section.note.empty()) line.add("  ").add(section.note);
  if (visible < section.lines.size()) {
    const std::size_t heads = std::min(section.heads, visible);
    line.add(fmt::format("  {} of {} lines", visible - heads, section.lines.size() - heads),
             Style::Quiet);
  }
  return line.cut(columns);
}

std::vector<Line> make_overview(const Snapshot& snapshot, std::size_t rows, std::size_t columns) {
  Numbers above = {section::kSources};
  if (!snapshot.problems.empty()) above.insert(above.begin(), section::kProblems);
  const Numbers left = {section::kWorkers, section::kCollections, section::kBackfill};
  const Numbers right = {section::kConsumers, section::kDeadLetters, section::kDatabase,
                         section::kPosts};
  if (columns < kTwoColumns) {
    Numbers all = above;
    for (const std::size_t each :
         {section::kWorkers, section::kCollections, section::kConsumers, section::kDeadLetters,
          section::kBackfill, section::kDatabase, section::kPosts}) {
      all.push_back(each);
    }
    return stacked(parts_of(all, snapshot, columns), rows, columns);
  }
  std::vector<Line> lines = stacked(parts_of(above, snapshot, columns), rows / 2, columns);
  const std::size_t width = (columns - kColumnGap) / 2;
  const std::size_t below = rows - lines.size();
  const auto both = side_by_side(stacked(parts_of(left, snapshot, width), below, width),
                                 stacked(parts_of(right, snapshot, width), below, width), width);
  lines.insert(lines.end(), both.begin(), both.end());
  return lines;
}

}  // namespace skua::top
