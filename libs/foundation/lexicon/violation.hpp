#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "atproto/data_model.hpp"
#include "lexicon/schema.hpp"

namespace skua::lexicon {

/// The fault of a text that does not have the format, such as "not a DID"; null: it has it.
const char* format_fault(std::string_view text, Format format);

/// Whether a text has more extended grapheme clusters (Unicode Standard Annex 29) than `limit`.
/// `text` must be UTF-8. Stops at the first cluster beyond the limit. Most texts need no ICU: those
/// with no more code points than the limit, and ASCII. The rules are those of ICU's version of
/// Unicode. May be called on any thread.
bool has_more_graphemes(std::string_view text, std::size_t limit);

/// The first violation of a value against a type, in the order of the encoded bytes: the path, a
/// colon and a message ("facets[0].index.byteStart: less than 0"). Nothing: the value is valid. The
/// rules of atproto.com/specs/lexicon, with these decisions: fields that the lexicon does not name
/// are allowed; a `$type` is required only in unions; a blob may have the form of before 2023,
/// `{cid, mimeType}`, to which the limits of blobs do not apply. Visits each value at most once,
/// and at most 128 levels. May be called on any thread.
std::optional<std::string> find_violation(const Schema& schema, const Node& type,
                                          const atproto::Value& value);

}  // namespace skua::lexicon
