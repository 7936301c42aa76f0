#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "atproto/data_model.hpp"
#include "lexicon/schema.hpp"

namespace skua::lexicon {

/// Returns the fault of a text that does not have the format, such as "not a DID", or null if the
/// text has the format.
const char* format_fault(std::string_view text, Format format);

/// Whether a text has more extended grapheme clusters (Unicode Standard Annex 29) than `limit`.
/// `text` must be UTF-8. The function stops at the first cluster beyond the limit. It does not need
/// ICU for ASCII and for texts with no more code points than the limit, which are most texts. The
/// rules are those of ICU's version of Unicode. Any thread.
bool has_more_graphemes(std::string_view text, std::size_t limit);

/// Returns the first violation of a value against a type, in the order of the encoded bytes, or
/// nothing if the value is valid. The text is the path, a colon and a message:
/// "facets[0].index.byteStart: less than 0". The rules are those of atproto.com/specs/lexicon, with
/// three decisions. Fields that the lexicon does not name are allowed. A `$type` is required only
/// in unions. A blob may have the form from before 2023, `{cid, mimeType}`, to which the limits of
/// blobs do not apply. Visits each value at most once, and at most 128 levels. Any thread.
std::optional<std::string> find_violation(const Schema& schema, const Node& type,
                                          const atproto::Value& value);

}  // namespace skua::lexicon
