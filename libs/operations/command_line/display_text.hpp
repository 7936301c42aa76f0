#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skua::command_line {

// Texts in the columns of a terminal. A grapheme cluster (Unicode Standard Annex 29) takes the sum
// of the columns of its code points, at most two, as in terminals that draw clusters. Others draw
// some clusters wider; ScreenText corrects the place of what follows. Any thread.

/// `text` of the network for a cell: `printable` of base/text.hpp, with at most three combining
/// marks in a row, so that marks do not cover other lines.
std::string cell_text(std::string_view text, std::size_t characters);

/// The columns of a text that `cell_text` made.
std::size_t display_width(std::string_view text);

/// The text, or its longest prefix of whole clusters that leaves a column for `…` at the end.
std::string cut_text(std::string_view text, std::size_t columns);

/// The text in lines of at most `columns`, broken at blanks if possible. Zero columns: no lines.
std::vector<std::string> wrapped_text(std::string_view text, std::size_t columns);

/// The width of the terminal on stdout, at most 1,000; nothing: stdout is no terminal.
std::optional<std::size_t> terminal_width();

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
