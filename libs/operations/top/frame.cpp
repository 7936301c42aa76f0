#include "top/frame.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "top/sections.hpp"

namespace skua::top {
namespace {

/// A page is late if its last answer is older than the interval of the view plus this time, in
/// seconds.
constexpr double kLateAfter = 5;

bool is_late(const Snapshot::Contact& contact, const View& view) {
  return contact.age && *contact.age > kLateAfter + static_cast<double>(view.every.count());
}

std::pair<std::string, Style> state_of(const Snapshot& snapshot, const View& view) {
  if (snapshot.process.failing_for || is_late(snapshot.process, view)) {
    return {"no answer", Style::Bad};
  }
  if (snapshot.state.empty()) return {"connecting", Style::Warn};
  if (!snapshot.is_ready()) return {snapshot.state, Style::Bad};
  return {snapshot.state, snapshot.problems.empty() ? Style::Good : Style::Warn};
}

std::string clock_text(Timestamp at) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch());
  return fmt::format("{:%H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(seconds.count())));
}

/// Returns the title line: the state, the address, the time, and `end`.
Line title_line(const Snapshot& snapshot, const View& view, const Origin& origin, const Line& end,
                std::size_t columns) {
  const auto [state, style] = state_of(snapshot, view);
  Line line("skua top", Style::Title);
  line.add("  ").add(state, style).add("  ").add(origin.address, Style::Quiet).add("  ");
  Line right(clock_text(origin.at), Style::Quiet);
  right.add(end);
  if (line.width() + right.width() <= columns) line.pad(columns - right.width());
  return line.add(right).cut(columns);
}

/// Returns the interval, and whether the view is paused.
Line view_text(const View& view) {
  Line line("  ");
  line.add(fmt::format("every {} s", view.every.count()), Style::Quiet);
  if (view.is_paused) line.add("  ").add("paused", Style::Warn);
  return line;
}

using Figures = std::vector<std::pair<const char*, std::string>>;

Figures figures_of(const Snapshot::Network& network) {
  const auto failed =
      std::ranges::count_if(network.nodes, [](const auto& node) { return !node.problem.empty(); });
  std::optional<double> age;
  for (const auto& node : network.nodes) age = std::max(age, node.age);
  return {{"nodes", fmt::format("{}", network.nodes.size())},
          {"cannot be read", fmt::format("{}", failed)},
          {"oldest", seconds_text(age)}};
}

Figures figures_of(const Snapshot& snapshot) {
  if (snapshot.network) return figures_of(*snapshot.network);
  return {{"events/s", number_text(snapshot.events_per_second, 1)},
          {"rows/s", number_text(snapshot.rows_per_second, 1)},
          {"lag", seconds_text(snapshot.lag)},
          {"p50", seconds_text(snapshot.commit_p50)},
          {"p99", seconds_text(snapshot.commit_p99)},
          {"in flight", number_text(snapshot.in_flight)},
          {"dead letters", number_text(snapshot.dead_letters)}};
}

/// Returns as many of the main numbers as fit into the line.
Line numbers_line(const Snapshot& snapshot, std::size_t columns) {
  Line line;
  for (const auto& [name, value] : figures_of(snapshot)) {
    Line part(name, Style::Quiet);
    part.add(" ").add(value, Style::Strong);
    const std::size_t gap = line.width() == 0 ? 0 : 3;
    if (line.width() + gap + part.width() > columns) break;
    line.pad(line.width() + gap).add(part);
  }
  return line;
}

/// Returns a notice that the numbers are old, with the reason; nothing if they are current.
std::optional<Line> notice_line(const Snapshot& snapshot, const View& view, std::size_t columns) {
  const Snapshot::Contact& process = snapshot.process;
  const Snapshot::Contact& database = snapshot.database_pages;
  std::string text;
  Style style = Style::Bad;
  if (process.failing_for) {
    text = fmt::format("No answer for {}", seconds_text(process.failing_for));
    if (process.age) text += fmt::format(", the numbers are {} old", seconds_text(process.age));
    text += ": " + process.failure;
  } else if (is_late(process, view)) {
    text = fmt::format("The numbers are {} old", seconds_text(process.age));
  } else if (database.failing_for && database.age) {
    text = fmt::format("The numbers of the database are {} old: {}", seconds_text(database.age),
                       database.failure);
    style = Style::Warn;
  } else if (database.failing_for) {
    text = "There are no numbers of the database: " + database.failure;
    style = Style::Warn;
  }
  if (text.empty()) return std::nullopt;
  return Line(text, style).cut(columns);
}

/// Returns the line above a section: its title, key and note, and the number of visible rows.
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

/// On a terminal of at least this width the overview has two columns.
constexpr std::size_t kTwoColumns = 120;
constexpr std::size_t kColumnGap = 3;

struct Part {
  std::size_t number = 0;
  Section section;
  /// The number of lines with the heading.
  std::size_t size() const { return section.lines.size() + 1; }
  /// The minimum number of lines: the heading and a row. The table of workers is not cut, because
  /// its rows belong together. A problem needs a line for its cure too. `rows` is the number of
  /// rows of the screen.
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

/// Puts parts below each other. If there is not enough room, the last parts are omitted.
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

/// Returns all sections, or as many as fit; each has its heading and at least one row. The overview
/// has two columns if there is room. There are at most `rows` lines, and none is wider than
/// `columns`.
std::vector<Line> make_overview(const Snapshot& snapshot, std::size_t rows, std::size_t columns) {
  Numbers above = {section::kSources};
  if (!snapshot.problems.empty()) above.insert(above.begin(), section::kProblems);
  if (snapshot.network) return stacked(parts_of(above, snapshot, columns), rows, columns);
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

/// A terminal with fewer rows has no line for the keys.
constexpr std::size_t kRowsForKeys = 6;
constexpr std::size_t kRowsOfReport = 20;

constexpr const char* kKeys =
    "q quit  Tab, 0-9 section  arrows scroll  p pause  + - interval  r read  h help";

constexpr std::array kHelp = {
    "q, Ctrl-C         quit",
    "1 to 9            the section with this number",
    "Tab, right        the next section; Shift-Tab, left: the previous one",
    "0, Esc            the overview",
    "down, up          scroll a section; also j and k, page down and up, Home and End",
    "p, blank          pause: the numbers do not change until the next p",
    "+, -              double the interval, or halve it",
    "r, Enter, Ctrl-L  read the pages now, and draw the screen again",
    "h, ?              this text",
    "",
    "Rates are means over ten seconds, those of collections over a minute. The",
    "growth of tables counts from the start of skua top.",
};

/// Appends a single section from View::scroll on. The head of its table stays visible.
void add_section(const Section& section, const View& view, std::size_t rows, std::size_t columns,
                 Frame& frame) {
  const std::size_t heads = std::min(section.heads, section.lines.size());
  const std::size_t fixed = heads + 1;
  frame.page = rows - std::min(rows, fixed);
  const std::size_t size = section.lines.size() - heads;
  frame.most_scroll = size - std::min(size, frame.page);
  const std::size_t begin = heads + std::min(view.scroll, frame.most_scroll);
  const std::size_t end = std::min(begin + frame.page, section.lines.size());
  frame.lines.push_back(heading(section, view.section, end - begin + heads, columns));
  const auto line = [&](std::size_t i) { return section.lines.begin() + static_cast<long>(i); };
  frame.lines.insert(frame.lines.end(), line(0), line(heads));
  frame.lines.insert(frame.lines.end(), line(begin), line(end));
}

void add_help(std::size_t columns, Frame& frame) {
  for (const char* text : kHelp) frame.lines.push_back(Line(text).cut(columns));
}

}  // namespace

Frame make_frame(const Snapshot& snapshot, const View& view, const Origin& origin, Size size) {
  Frame frame;
  frame.lines.push_back(title_line(snapshot, view, origin, view_text(view), size.columns));
  frame.lines.push_back(numbers_line(snapshot, size.columns));
  if (auto notice = notice_line(snapshot, view, size.columns)) {
    frame.lines.push_back(std::move(*notice));
  }
  const std::size_t below = size.rows >= kRowsForKeys ? 1 : 0;
  const std::size_t rows = size.rows - std::min(size.rows, frame.lines.size() + below);
  if (view.shows_help) {
    add_help(size.columns, frame);
  } else if (view.section == 0) {
    for (Line& line : make_overview(snapshot, rows, size.columns)) {
      frame.lines.push_back(std::move(line));
    }
  } else {
    add_section(make_section(view.section, snapshot, size.columns), view, rows, size.columns,
                frame);
  }
  frame.lines.resize(size.rows - std::min(size.rows, below));
  if (below > 0) frame.lines.push_back(Line(kKeys, Style::Quiet).cut(size.columns));
  return frame;
}

std::vector<Line> make_report(const Snapshot& snapshot, const Origin& origin, std::size_t columns) {
  const View view;
  std::vector<Line> lines = {title_line(snapshot, view, origin, {}, columns),
                             numbers_line(snapshot, columns)};
  if (auto notice = notice_line(snapshot, view, columns)) lines.push_back(std::move(*notice));
  const std::size_t last = snapshot.network ? section::kSources : kSections;
  for (std::size_t number = 1; number <= last; ++number) {
    Section section = make_section(number, snapshot, columns);
    const std::size_t most = number == section::kProblems ? section.lines.size() : kRowsOfReport;
    const std::size_t visible = std::min(section.lines.size(), section.heads + most);
    lines.emplace_back();
    lines.push_back(heading(section, number, visible, columns));
    section.lines.resize(visible);
    for (Line& line : section.lines) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace skua::top
