#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::store {

/// A source that a database was filled from: its saved cursor and its last metrics.
struct StoredSource {
  /// Kind and host, such as `relay:relay1.us-east.bsky.network`.
  std::string name;
  /// Nothing: none was saved. A Tap has none.
  std::optional<std::int64_t> cursor;
  std::optional<Timestamp> saved_at;
  /// When the host made the event at the cursor.
  std::optional<Timestamp> event_time;
  /// From `event_time` to now.
  std::optional<double> lag_seconds;
  /// The text of a JSON object, and its age.
  std::optional<std::string> figures;
  std::optional<double> figures_age_seconds;
};

/// All sources of the database, by name. Throws SqlError.
std::vector<StoredSource> read_sources(Session& session);

/// The deleted items of a source.
struct ForgottenSource {
  /// False: the database has nothing of a source of this name.
  bool is_known = false;
  std::optional<std::int64_t> cursor;
  std::size_t tombstones = 0;
  /// Those of accounts whose backfill runs: they are needed until it has ended.
  std::size_t tombstones_kept = 0;
};

/// Removes what belongs to a source alone, in one transaction: cursor, metrics, tombstones. Rows
/// that it brought stay. Throws SourceBusy when a process reads the source, or SqlError.
ForgottenSource forget_source(Session& session, std::string_view source);

}  // namespace skua::store
