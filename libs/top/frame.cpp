#include "top/frame.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "top/header.hpp"
#include "top/overview.hpp"
#include "top/sections.hpp"

namespace skua::top {
namespace {

/// A smaller terminal has no line for the keys.
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

/// Appends a section alone, from View::scroll on. The head of its table stays visible.
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
  for (std::size_t number = 1; number <= kSections; ++number) {
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
