#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skua::command_line {

// Texts in the columns of a terminal. A grapheme cluster (Unicode Standard Annex 29) takes the sum
// of the columns of its code points, at most two, as in terminals that draw clusters. Other
// terminals draw some clusters wider; ScreenText corrects the place of the text that follows. Any
// thread.

/// Makes a text of the network fit for a cell: applies `printable` of base/text.hpp, and allows at
/// most three combining marks in a row, so that marks do not cover other lines.
std::string cell_text(std::string_view text, std::size_t characters);

/// Returns the number of columns of a text that `cell_text` made.
std::size_t display_width(std::string_view text);

/// Returns the text or, if it is too wide, its longest prefix of whole clusters that leaves a
/// column for `…` at the end.
std::string cut_text(std::string_view text, std::size_t columns);

/// Splits the text into lines of at most `columns`, at blanks if possible. With zero columns there
/// are no lines.
std::vector<std::string> wrapped_text(std::string_view text, std::size_t columns);

/// Returns the width of the terminal on stdout, at most 1,000; nothing if stdout is no terminal.
std::optional<std::size_t> terminal_width();

/// A table as text for people. Each column is as wide as its widest cell on a terminal; two blanks
/// separate the columns. The caller passes cells in the form in which they are shown, so texts of
/// the network must have passed `printable`. Owned by one thread.
class Table {
 public:
  struct Column {
    /// The head of the column. If all heads are empty, the table has no head line.
    std::string head = {};
    /// True if cells are aligned to the right of their column.
    bool is_number = false;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Adds a row. It must have as many cells as there are columns.
  void add(std::vector<std::string> cells) { rows_.push_back({std::move(cells), {}}); }
  /// Adds an indented line below the last row. The line ignores the columns.
  void add_note(std::string note) { rows_.back().notes.push_back(std::move(note)); }
  bool is_empty() const { return rows_.empty(); }

  /// Returns the head and the rows. Each line begins with `indent` blanks and ends with a line end.
  /// A table without rows has only the head.
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
