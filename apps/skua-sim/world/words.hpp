#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "random.hpp"

namespace skua::sim {

/// Writing systems of made-up texts, which differ in what they ask of whoever counts bytes,
/// characters or graphemes.
enum class Script : std::uint8_t { latin, accented, japanese, arabic };

/// What a post says of its language.
std::string_view language_of(Script script);

/// The network's mix: mostly Latin.
Script random_script(Random& random);

/// A word of made-up syllables; nothing in any language but by accident.
std::string random_word(Random& random, Script script);

/// Words of at least `bytes` bytes in all, with punctuation and now and then an emoji.
std::string random_text(Random& random, Script script, std::size_t bytes);

/// Letters a to z only: `mira-oske17`, the first part of a handle.
std::string random_name(Random& random);

}  // namespace skua::sim
