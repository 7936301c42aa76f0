#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "lexicon/schema.hpp"

namespace skua::lexicon_store {

/// The largest document, in bytes.
inline constexpr std::size_t kMaxDocument = 1'000'000;

/// A lexicon document of a user.
struct Document {
  std::string nsid;
  /// In one line, with sorted keys.
  std::string json;
};

/// Reads a document that may be hostile: at most kMaxDocument bytes, 128 levels, and no NUL, which
/// PostgreSQL cannot store. Checks nothing of the language but the id; `schema_of` does. Throws
/// lexicon::LexiconError.
Document read_document(std::string_view text);

/// Whether the program has a document with this id.
bool is_built_in(std::string_view nsid);

/// The schema of the built-in documents and these. Throws lexicon::LexiconError.
lexicon::Schema schema_of(std::span<const Document> documents);

}  // namespace skua::lexicon_store
