#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "random.hpp"

namespace skua::sim {

/// Writing systems of generated texts, with different relations between bytes, characters and
/// graphemes.
enum class Script : std::uint8_t { latin, accented, japanese, arabic };

/// The language tag of a post.
std::string_view language_of(Script script);

/// The network's mix: mostly Latin.
Script random_script(Random& random);

/// A word of random syllables, without meaning.
std::string random_word(Random& random, Script script);

/// Words with at least `bytes` bytes in all, with punctuation and sometimes an emoji.
std::string random_text(Random& random, Script script, std::size_t bytes);

/// Letters a to z only: `mira-oske17`, the first part of a handle.
std::string random_name(Random& random);

}  // namespace skua::sim
