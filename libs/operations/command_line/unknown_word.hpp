#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace skua::command_line {

/// The number of insertions, deletions, replacements and swaps of neighbours that turn one word
/// into the other (optimal string alignment). Time and memory grow with the product of the lengths.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known word nearest to a mistyped one; the first of several. Nothing if all differ in more
/// than a third of their letters, or if the word is too long for a command line word.
std::optional<std::string> suggestion(std::string_view word, std::span<const std::string> known);

/// The error message for the first command or option that does not exist, with the most similar one
/// that does. Nothing: all exist. CLI11 checks the values.
std::optional<std::string> unknown_word(const CLI::App& root, std::span<const std::string> words);

}  // namespace skua::command_line
