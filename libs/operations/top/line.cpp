#include "top/line.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include <fmt/format.h>

#include "base/text.hpp"
#include "command_line/display_text.hpp"

namespace skua::top {
namespace {

constexpr std::size_t kMostOfLine = 1'000;

constexpr std::size_t kCellGap = 2;
constexpr std::size_t kLeastText = 8;

using Row = std::vector<Line>;

std::vector<std::size_t> widths_of(const std::vector<Table::Column>& columns,
                                   const std::vector<Row>& rows, std::size_t width) {
  std::vector<std::size_t> wanted(columns.size());
  std::vector<std::size_t> least(columns.size());
  // The text columns share the width that the numbers and the gaps leave. Each gets a short part,
  // and the columns on the left get the rest.
  std::size_t taken = kCellGap * (columns.size() - 1);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    wanted[i] = columns[i].head.size();
    for (const Row& row : rows) wanted[i] = std::max(wanted[i], row[i].width());
    if (columns[i].is_number) taken += wanted[i];
    least[i] = columns[i].is_number ? 0 : std::min(wanted[i], kLeastText);
  }
  std::size_t left = width - std::min(taken, width);
  const auto shares = shared_out(least, left);
  left -= std::accumulate(shares.begin(), shares.end(), std::size_t{0});
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].is_number) continue;
    const std::size_t more = std::min(wanted[i] - shares[i], left);
    left -= more;
    wanted[i] = shares[i] + more;
  }
  return wanted;
}

Line row_line(const std::vector<Table::Column>& columns, const Row& row,
              const std::vector<std::size_t>& widths) {
  Line line;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    Line cell = row[i];
    cell.cut(widths[i]);
    if (columns[i].is_number) line.pad(begin + widths[i] - cell.width());
    line.add(cell);
    begin += widths[i];
    if (i + 1 < row.size()) line.pad(begin += kCellGap);
  }
  return line;
}

constexpr const char* kUnknown = "-";
/// Above this value the digits of a double are not exact.
constexpr double kMost = 1e15;

/// Returns the SGR parameters of a style (ECMA-48 8.3.117).
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
  // The line is erased before it is written, because an erasure at the last column would remove a
  // character.
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

Line& Line::add(std::string_view text, Style style) {
  std::string shown = command_line::cell_text(text, kMostOfLine);
  if (shown.empty()) return *this;
  width_ += command_line::display_width(shown);
  spans_.push_back({std::move(shown), style});
  return *this;
}

Line& Line::add(const Line& other) {
  spans_.insert(spans_.end(), other.spans_.begin(), other.spans_.end());
  width_ += other.width_;
  return *this;
}

Line& Line::pad(std::size_t columns, Style style) {
  if (width_ >= columns) return *this;
  spans_.push_back({std::string(columns - width_, ' '), style});
  width_ = columns;
  return *this;
}

Line& Line::cut(std::size_t columns) {
  if (width_ <= columns) return *this;
  std::size_t used = 0;
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const std::size_t width = command_line::display_width(spans_[i].text);
    if (used + width > columns || (used + width == columns && i + 1 < spans_.size())) {
      // The mark of the cut needs a column, even if this text would just fit.
      const std::size_t left = columns - used;
      std::string cut = command_line::cut_text(spans_[i].text + " ", left);
      used += command_line::display_width(cut);
      spans_[i].text = std::move(cut);
      spans_.resize(i + 1);
      break;
    }
    used += width;
  }
  width_ = used;
  return *this;
}

std::string Line::text() const {
  std::string all;
  for (const Span& span : spans_) all += span.text;
  all.erase(all.find_last_not_of(' ') + 1);
  return all;
}

void Table::add(std::vector<Cell> cells) {
  Row row;
  row.reserve(cells.size());
  for (const Cell& cell : cells) row.emplace_back(cell.text, cell.style);
  row.resize(columns_.size());
  rows_.push_back(std::move(row));
}

std::vector<Line> Table::lines(std::size_t width) const {
  std::vector<Line> lines;
  if (rows_.empty()) return lines;
  std::vector<Column> columns;
  std::vector<Row> rows(rows_.size() + 1);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].from > width) continue;
    columns.push_back(columns_[i]);
    rows[0].emplace_back(columns_[i].head, Style::Quiet);
    for (std::size_t row = 0; row < rows_.size(); ++row) rows[row + 1].push_back(rows_[row][i]);
  }
  const auto widths = widths_of(columns, rows, width);
  lines.reserve(rows.size());
  for (const Row& row : rows) lines.push_back(row_line(columns, row, widths).cut(width));
  return lines;
}

std::string number_text(std::optional<double> number, int digits) {
  if (!number || !std::isfinite(*number)) return kUnknown;
  if (std::abs(*number) >= kMost) return fmt::format("{:.3g}", *number);
  const std::string plain = fmt::format("{:.{}f}", std::abs(*number), digits);
  const std::size_t whole = plain.find('.');
  const auto count = static_cast<std::int64_t>(std::strtoll(plain.c_str(), nullptr, 10));
  const std::string text =
      with_commas(count) + (whole == std::string::npos ? "" : plain.substr(whole));
  const bool is_zero = plain.find_first_not_of("0.") == std::string::npos;
  return (*number < 0 && !is_zero ? "-" : "") + text;
}

std::string seconds_text(std::optional<double> seconds) {
  if (!seconds || !std::isfinite(*seconds)) return kUnknown;
  constexpr double kMinute = 60;
  constexpr double kHour = 3'600;
  constexpr double kDay = 86'400;
  const double value = *seconds;
  if (std::abs(value) < 1) return number_text(value * 1'000) + " ms";
  if (value < 2 * kMinute) return number_text(value, 1) + " s";
  if (value < 2 * kHour) return number_text(value / kMinute) + " min";
  if (value < 2 * kDay) return number_text(value / kHour, 1) + " h";
  return number_text(value / kDay, 1) + " d";
}

std::string bytes_text(std::optional<double> bytes) {
  if (!bytes || !std::isfinite(*bytes)) return kUnknown;
  return (*bytes < 0 ? "-" : "") + size_text(std::abs(*bytes));
}

std::vector<std::size_t> shared_out(const std::vector<std::size_t>& wanted, std::size_t all) {
  std::vector<std::size_t> shares(wanted.size());
  // Each round gives equal shares to the parts that want more. A part that needs less leaves the
  // rest for the next round.
  std::size_t wanting_more = wanted.size();
  while (wanting_more > 0 && all > 0) {
    const std::size_t each = std::max<std::size_t>(all / wanting_more, 1);
    wanting_more = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::size_t more = std::min({each, wanted[i] - shares[i], all});
      shares[i] += more;
      all -= more;
      if (shares[i] < wanted[i]) ++wanting_more;
    }
  }
  return shares;
}

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
