#include "result_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/utf8.hpp"

namespace skua::cli {
namespace {

/// Characters of one value in a table.
constexpr std::size_t kMostInCell = 80;

/// The number of characters. For most texts it is also their width on a terminal.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

/// The columns of a line, and the widest value of each.
struct Table {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::size_t> widths;

  void add(std::vector<std::string> cells) {
    widths.resize(cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], width_of(cells[i]));
    lines.push_back(std::move(cells));
  }
};

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

std::string result_table(const store::Rows& rows) {
  Table table;
  table.lines.reserve(rows.size() + 1);
  std::vector<std::string> cells;
  for (std::size_t column = 0; column < rows.columns(); ++column) {
    cells.emplace_back(rows.column_name(column));
  }
  table.add(cells);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t column = 0; column < rows.columns(); ++column) {
      cells[column] =
          rows.is_null(row, column) ? "" : printable(rows.text(row, column), kMostInCell);
    }
    table.add(cells);
  }
  std::string text;
  for (const auto& line : table.lines) {
    std::string padded;
    for (std::size_t i = 0; i < line.size(); ++i) {
      padded += line[i];
      padded.append(table.widths[i] - width_of(line[i]) + 2, ' ');
    }
    padded.erase(padded.find_last_not_of(' ') + 1);
    text += padded + "\n";
  }
  return text + fmt::format("({})\n", counted(static_cast<std::int64_t>(rows.size()), "row"));
}

std::string result_csv(const store::Rows& rows) {
  std::string csv;
  for (std::size_t column = 0; column < rows.columns(); ++column) {
    if (column > 0) csv += ',';
    append_field(csv, rows.column_name(column));
  }
  csv += '\n';
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t column = 0; column < rows.columns(); ++column) {
      if (column > 0) csv += ',';
      if (!rows.is_null(row, column)) append_field(csv, rows.text(row, column));
    }
    csv += '\n';
  }
  return csv;
}

}  // namespace skua::cli
