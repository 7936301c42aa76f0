#include "result_text.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"
#include "command_line/display_text.hpp"

namespace skua::cli {
namespace {

constexpr std::size_t kGap = 2;
/// The minimum width of a shortened text.
constexpr std::size_t kLeastText = 16;
constexpr std::size_t kDateTime = std::string_view("2026-07-04 14:38:08").size();
constexpr std::string_view kUtc = "+00";

/// Returns whether a time has the usual form that PostgreSQL writes in a session with UTC. A year
/// can have more than four digits, and infinity has another form.
bool is_common_time(std::string_view text) {
  return text.size() >= kDateTime + kUtc.size() && text[10] == ' ' && text.ends_with(kUtc);
}

std::string cell_of(const QueryResult& result, std::size_t row, std::size_t column) {
  if (result.rows.is_null(row, column)) return "";
  const std::string_view text = result.rows.text(row, column);
  if (result.is_time[column] && is_common_time(text)) {
    return std::string(text.substr(0, kDateTime));
  }
  return command_line::cell_text(text, std::numeric_limits<std::size_t>::max());
}

/// Returns whether the value must not be shortened, because a part of it, such as a part of an
/// address, is useless.
bool is_whole(std::string_view value) {
  return value.starts_with("at://") || value.starts_with("did:") || value.starts_with("https://");
}

struct TableColumn {
  std::string name;
  std::vector<std::string> cells;
  std::size_t width = 0;
  bool can_be_cut = true;
  bool is_shown = true;

  std::size_t least_width() const { return can_be_cut ? std::min(width, kLeastText) : width; }
};

std::vector<TableColumn> table_columns(const QueryResult& result) {
  std::vector<TableColumn> columns;
  for (std::size_t i = 0; i < result.rows.columns(); ++i) {
    TableColumn column{.name = std::string(result.rows.column_name(i)),
                       .cells = {},
                       .can_be_cut = !result.is_time[i]};
    column.width = command_line::display_width(column.name);
    for (std::size_t row = 0; row < result.count; ++row) {
      column.cells.push_back(cell_of(result, row, i));
      column.width = std::max(column.width, command_line::display_width(column.cells.back()));
      column.can_be_cut = column.can_be_cut && !is_whole(column.cells.back());
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

/// Returns the total width of the shown columns if each text is at most `most_text` wide.
std::size_t total_width(const std::vector<TableColumn>& columns, std::size_t most_text) {
  std::size_t width = 0;
  for (const TableColumn& column : columns) {
    if (!column.is_shown) continue;
    width += (width == 0 ? 0 : kGap) +
             (column.can_be_cut ? std::min(column.width, most_text) : column.width);
  }
  return width;
}

/// Hides the widest columns, and shortens all texts to the same width, so that the table fits.
void fit(std::vector<TableColumn>& columns, std::size_t width) {
  while (total_width(columns, kLeastText) > width) {
    const auto widest = std::max_element(
        columns.rbegin(), columns.rend(), [](const TableColumn& a, const TableColumn& b) {
          return (a.is_shown ? a.least_width() : 0) < (b.is_shown ? b.least_width() : 0);
        });
    const auto shown = std::count_if(columns.begin(), columns.end(),
                                     [](const TableColumn& column) { return column.is_shown; });
    if (shown == 1) {
      widest->can_be_cut = true;
      widest->width = std::min(widest->width, width);
      return;
    }
    widest->is_shown = false;
  }
  std::size_t most = kLeastText;
  while (most < width && total_width(columns, most + 1) <= width) ++most;
  for (TableColumn& column : columns) {
    if (column.can_be_cut) column.width = std::min(column.width, most);
  }
}

void append_line(std::string& text, const std::vector<TableColumn>& columns, auto cell) {
  std::string line;
  for (const TableColumn& column : columns) {
    if (!column.is_shown) continue;
    const std::string shown = command_line::cut_text(cell(column), column.width);
    line += shown;
    line.append(column.width - command_line::display_width(shown) + kGap, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + "\n";
}

/// Returns the values of a row below each other. A long text continues in the next line.
std::string single_row(const std::vector<TableColumn>& columns, std::size_t width) {
  std::size_t names = 0;
  for (const TableColumn& column : columns)
    names = std::max(names, command_line::display_width(column.name));
  const std::size_t left = names + kGap;
  std::string text;
  for (const TableColumn& column : columns) {
    const std::size_t room = width > left + kLeastText ? width - left : kLeastText;
    std::vector<std::string> lines = {column.cells.front()};
    if (column.can_be_cut && !lines.front().empty()) {
      lines = command_line::wrapped_text(lines.front(), room);
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string line = fmt::format("{:<{}}{}", i == 0 ? column.name : "", left, lines[i]);
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
  }
  return text;
}

/// Returns a value of several lines that is the only value of the result.
std::string single_text(std::string_view value) {
  std::string text;
  while (!value.empty()) {
    const std::size_t end = std::min(value.find('\n'), value.size());
    text += command_line::cell_text(value.substr(0, end), std::numeric_limits<std::size_t>::max()) +
            "\n";
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  return text;
}

void append_field(std::string& csv, std::string_view value) {
  if (value.find_first_of(",\"\r\n") == value.npos) {
    csv += value;
    return;
  }
  csv += '"';
  for (const char c : value) {
    if (c == '"') csv += '"';
    csv += c;
  }
  csv += '"';
}

}  // namespace

std::string rfc3339(std::string_view time) {
  if (!is_common_time(time)) return std::string(time);
  std::string text = fmt::format("{}:00", time);
  text[10] = 'T';
  return text;
}

ResultTable result_table(const QueryResult& result, std::optional<std::size_t> width) {
  const auto& [rows, count, is_time] = result;
  if (count == 1 && rows.columns() == 1 && rows.text(0, 0).find('\n') != std::string_view::npos) {
    return {single_text(rows.text(0, 0)), {}};
  }
  ResultTable table;
  auto columns = table_columns(result);
  const auto unlimited = std::numeric_limits<std::size_t>::max();
  if (width && count == 1 && total_width(columns, unlimited) > *width) {
    table.text = single_row(columns, *width);
  } else {
    if (width && total_width(columns, unlimited) > *width) fit(columns, *width);
    append_line(table.text, columns, [](const TableColumn& column) { return column.name; });
    for (std::size_t row = 0; row < count; ++row) {
      append_line(table.text, columns,
                  [row](const TableColumn& column) { return column.cells[row]; });
    }
  }
  for (const TableColumn& column : columns) {
    if (!column.is_shown) table.hidden.push_back(column.name);
  }
  table.text += fmt::format("({})\n", counted(static_cast<std::int64_t>(count), "row"));
  return table;
}

std::string result_csv(const QueryResult& result) {
  const auto& [rows, count, is_time] = result;
  std::string csv;
  for (std::size_t column = 0; column < rows.columns(); ++column) {
    if (column > 0) csv += ',';
    append_field(csv, rows.column_name(column));
  }
  csv += '\n';
  for (std::size_t row = 0; row < count; ++row) {
    for (std::size_t column = 0; column < rows.columns(); ++column) {
      if (column > 0) csv += ',';
      if (rows.is_null(row, column)) continue;
      const std::string_view value = rows.text(row, column);
      append_field(csv, is_time[column] ? rfc3339(value) : std::string(value));
    }
    csv += '\n';
  }
  return csv;
}

}  // namespace skua::cli
