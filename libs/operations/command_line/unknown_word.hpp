#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace skua::command_line {

/// Returns the number of insertions, deletions, replacements and swaps of neighbours that turn one
/// word into the other (optimal string alignment). Time and memory are proportional to the product
/// of the lengths.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the known word that is nearest to a mistyped word; if several are equally near, the
/// first of them. Returns nothing if all known words differ in more than a third of their letters,
/// or if the mistyped word is too long for a command line word.
std::optional<std::string> suggestion(std::string_view word, std::span<const std::string> known);

/// Returns the error message for the first command or option that does not exist, with the most
/// similar one that exists. Returns nothing if all exist. CLI11 checks the values.
std::optional<std::string> unknown_word(const CLI::App& root, std::span<const std::string> words);

}  // namespace skua::command_line
