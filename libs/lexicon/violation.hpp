#pragma once

#include <optional>
#include <string>

#include "atproto/data_model.hpp"
#include "lexicon/schema.hpp"

namespace skua::lexicon {

/// The first violation of a value against a type, in the order of the encoded bytes: the path, a
/// colon and a message ("facets[0].index.byteStart: less than 0"). Nothing: the value is valid. The
/// rules of atproto.com/specs/lexicon, with these decisions: fields that the lexicon does not name
/// are allowed; a `$type` is required only in unions; a blob may have the form of before 2023,
/// `{cid, mimeType}`, to which the limits of blobs do not apply. Visits each value at most once,
/// and at most 128 levels. May be called on any thread.
std::optional<std::string> find_violation(const Schema& schema, const Node& type,
                                          const atproto::Value& value);

}  // namespace skua::lexicon
