#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace skua::command_line {

/// A table as text for people. Each column is as wide as its widest cell on a terminal; two blanks
/// separate them. Cells come from the caller as they are shown: those of the network through
/// `printable`. Owned by one thread.
class Table {
 public:
  struct Column {
    /// Empty in all columns: the table has no head.
    std::string head = {};
    /// On the right of its column.
    bool is_number = false;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// As many cells as there are columns.
  void add(std::vector<std::string> cells) { rows_.push_back({std::move(cells), {}}); }
  /// A line below the last row, indented. Columns do not apply to it.
  void add_note(std::string note) { rows_.back().notes.push_back(std::move(note)); }
  bool is_empty() const { return rows_.empty(); }

  /// The head, then the rows, each line with `indent` blanks before it and a line end. Without rows
  /// the head alone.
  std::string text(std::size_t indent = 0) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::vector<std::string> notes;
  };

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace skua::command_line
