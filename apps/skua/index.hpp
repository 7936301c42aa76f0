#pragma once

#include <optional>
#include <string>
#include <vector>

#include "settings.hpp"

namespace skua::cli {

/// An index that some questions need and the indexer does not. Each one makes writing slower, so
/// that the user decides.
struct OptionalIndex {
  const char* name;    // of the command
  const char* index;   // in schema bsky, and the name of its statistics
  const char* table;   // in schema bsky
  const char* method;  // as in CREATE INDEX
  const char* expression;
  const char* use;
  const char* cost;
};
const std::vector<OptionalIndex>& optional_indexes();

/// `skua index`.
struct IndexFlags {
  std::string name;
  std::optional<std::string> database;
};
// All throw store::SqlError and UsageError.
int index_list(const Settings& settings, const IndexFlags& flags);
/// Builds an index while the indexer writes, or builds it again after an interrupted build. An
/// index that exists is left unchanged.
int index_add(const Settings& settings, const IndexFlags& flags);
int index_remove(const Settings& settings, const IndexFlags& flags);

}  // namespace skua::cli
