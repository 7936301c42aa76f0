#pragma once

#include <optional>
#include <string>
#include <vector>

#include "settings.hpp"

namespace skua::cli {

/// `skua lexicon`.
struct LexiconFlags {
  std::vector<std::string> files;
  /// Properties, as the lexicon names them.
  std::vector<std::string> indexes;
  std::string nsid;
  std::optional<std::string> database;
};
// All return the exit code and throw store::SqlError and UsageError.
/// Stores documents, creates the views of their records, and builds the indexes.
int lexicon_add(const Settings& settings, const LexiconFlags& flags);
int lexicon_list(const Settings& settings, const LexiconFlags& flags);
/// Removes a document with its view and its indexes.
int lexicon_remove(const Settings& settings, const LexiconFlags& flags);
/// Prints the document.
int lexicon_show(const Settings& settings, const LexiconFlags& flags);
/// Checks the stored records against the present lexicons (lexicon_check.cpp).
int lexicon_check(const Settings& settings, const LexiconFlags& flags);

}  // namespace skua::cli
