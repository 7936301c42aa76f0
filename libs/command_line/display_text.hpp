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

/// `text` of the network for a cell: `printable` of base/utf8.hpp, with at most three combining
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

}  // namespace skua::command_line
