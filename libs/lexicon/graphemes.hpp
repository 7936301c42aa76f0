#pragma once

#include <cstddef>
#include <string_view>

namespace skua::lexicon {

/// Whether a text has more extended grapheme clusters (Unicode Standard Annex 29) than `limit`.
/// `text` must be UTF-8. Stops at the first cluster beyond the limit. Most texts need no ICU: those
/// with no more code points than the limit, and ASCII. The rules are those of ICU's version of
/// Unicode. May be called on any thread.
bool has_more_graphemes(std::string_view text, std::size_t limit);

}  // namespace skua::lexicon
