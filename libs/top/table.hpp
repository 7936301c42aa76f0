#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "top/line.hpp"

namespace skua::top {

/// A table with a head, as lines. Numbers are on the right of their columns. Texts that do not fit
/// are cut: those on the right first. One thread.
class Table {
 public:
  struct Column {
    std::string head;
    bool is_number = false;
    /// The least width of a table that has this column.
    std::size_t from = 0;
  };
  struct Cell {
    std::string text;
    Style style = Style::Plain;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// As many cells as there are columns.
  void add(std::vector<Cell> cells);

  /// The head, then the rows; a table without rows has no lines. No line is wider than `width`.
  std::vector<Line> lines(std::size_t width) const;

 private:
  std::vector<Column> columns_;
  using Row = std::vector<Line>;
  std::vector<Row> rows_;
};

}  // namespace skua::top
