#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace skua::command_line {

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other
/// (optimal string alignment). Takes time and memory by the product of the lengths.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known word that a mistyped one is nearest to, the first of several. Nothing when each
/// differs in more than a third of its letters, or when the word is longer than any command line
/// word.
std::optional<std::string> suggestion(std::string_view word, std::span<const std::string> known);

}  // namespace skua::command_line
