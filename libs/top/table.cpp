#include "top/table.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "top/share.hpp"

namespace skua::top {
namespace {

constexpr std::size_t kCellGap = 2;
constexpr std::size_t kLeastText = 8;

using Row = std::vector<Line>;

std::vector<std::size_t> widths_of(const std::vector<Table::Column>& columns,
                                   const std::vector<Row>& rows, std::size_t width) {
  std::vector<std::size_t> wanted(columns.size());
  std::vector<std::size_t> least(columns.size());
  // The texts share what the numbers and the gaps leave: a short part for each, the rest from the
  // left.
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

}  // namespace

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

}  // namespace skua::top
