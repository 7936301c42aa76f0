#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "postgres/session.hpp"

namespace skua::cli {

/// An index that some queries need and the indexer does not. Each such index makes writing slower,
/// so the user decides.
struct OptionalIndex {
  const char* name;        // of the command
  const char* index;       // in schema bsky, and the name of its statistics
  const char* table;       // in schema bsky
  const char* method;      // as in CREATE INDEX
  std::string columns;     // as in CREATE INDEX
  const char* statistics;  // an expression that the planner needs statistics of, or null
  const char* use;
  const char* cost;
};
const std::vector<OptionalIndex>& optional_indexes();
/// Returns null if no optional index has this name.
const OptionalIndex* find_optional_index(std::string_view name);

struct IndexState {
  enum class Progress : std::uint8_t {
    Missing,
    Building,
    /// An earlier build was interrupted.
    Incomplete,
    Complete
  };
  Progress progress = Progress::Missing;
  /// The size as a text for people; empty if the index is missing.
  std::string size;
};
/// Reads the state of an index. Throws postgres::SqlError.
IndexState read_index_state(postgres::Session& session, const OptionalIndex& index);

}  // namespace skua::cli
