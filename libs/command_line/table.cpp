#include "command_line/table.hpp"

#include <algorithm>

#include "command_line/display_text.hpp"

namespace skua::command_line {
namespace {

constexpr std::size_t kGap = 2;

}  // namespace

std::string Table::text(std::size_t indent) const {
  std::vector<std::string> heads;
  for (const Column& column : columns_) heads.push_back(column.head);
  std::vector<std::size_t> widths(columns_.size());
  const auto measure = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(cells[i]));
    }
  };
  measure(heads);
  for (const Row& row : rows_) measure(row.cells);

  const std::string margin(indent, ' ');
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line = margin;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string blanks(widths[i] - display_width(cells[i]), ' ');
      line += columns_[i].is_number ? blanks + cells[i] : cells[i] + blanks;
      line.append(kGap, ' ');
    }
    // Nothing but blanks may follow the last cell.
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  const bool has_head = std::ranges::any_of(heads, [](const auto& head) { return !head.empty(); });
  if (has_head) add_line(heads);
  for (const Row& row : rows_) {
    add_line(row.cells);
    for (const std::string& note : row.notes) {
      text.append(margin).append(4, ' ').append(note).append(1, '\n');
    }
  }
  return text;
}

}  // namespace skua::command_line
