#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "postgres/session.hpp"

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
/// Null: no optional index has this name.
const OptionalIndex* find_optional_index(std::string_view name);

struct IndexState {
  enum class Progress : std::uint8_t {
    Missing,
    Building,
    /// A build was interrupted.
    Incomplete,
    Complete
  };
  Progress progress = Progress::Missing;
  /// For people; empty if it is missing.
  std::string size;
};
/// Throws postgres::SqlError.
IndexState read_index_state(postgres::Session& session, const OptionalIndex& index);

}  // namespace skua::cli
