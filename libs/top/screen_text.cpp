#include "top/screen_text.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "command_line/display_text.hpp"

namespace skua::top {
namespace {

/// Parameters of SGR, ECMA-48 8.3.117.
const char* parameters_of(Style style, bool has_colours) {
  switch (style) {
    case Style::Plain:
      return "0";
    case Style::Title:
      return has_colours ? "0;1;36" : "0;1;4";
    case Style::Strong:
      return "0;1";
    case Style::Quiet:
      return "0;2";
    case Style::Good:
      return has_colours ? "0;32" : "0";
    case Style::Warn:
      return has_colours ? "0;33" : "0;1";
    case Style::Bad:
      break;
  }
  return has_colours ? "0;1;31" : "0;7";
}

void add_line(const Line& line, std::size_t row, bool has_colours, std::string& text) {
  // The line is erased first: at the last column an erasure would remove a character.
  text += fmt::format("\x1b[{};1H\x1b[0m\x1b[2K", row + 1);
  std::size_t column = 0;
  bool is_sure = true;
  Style style = Style::Plain;
  for (const Span& span : line.spans()) {
    if (!is_sure) text += fmt::format("\x1b[{}G", column + 1);
    if (span.style != style)
      text += fmt::format("\x1b[{}m", parameters_of(span.style, has_colours));
    style = span.style;
    text += span.text;
    const std::size_t width = command_line::display_width(span.text);
    is_sure = is_sure && width == span.text.size();
    column += width;
  }
}

}  // namespace

std::string screen_text(const std::vector<Line>& before, const std::vector<Line>& after,
                        bool has_colours) {
  std::string text;
  for (std::size_t row = 0; row < std::max(before.size(), after.size()); ++row) {
    const Line line = row < after.size() ? after[row] : Line();
    if (row < before.size() && before[row] == line) continue;
    add_line(line, row, has_colours, text);
  }
  return text;
}

std::string whole_screen_text(const std::vector<Line>& lines, bool has_colours) {
  return "\x1b[0m\x1b[H\x1b[2J" + screen_text({}, lines, has_colours);
}

}  // namespace skua::top
