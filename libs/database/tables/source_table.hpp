#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "postgres/session.hpp"

namespace skua::tables {

/// A source with events in the database, with its saved cursor and its last metrics.
struct StoredSource {
  /// The kind and host, such as `relay:relay1.us-east.bsky.network`.
  std::string name;
  /// Nothing if no cursor was saved. A Tap never has one.
  std::optional<std::int64_t> cursor;
  std::optional<Timestamp> saved_at;
  /// The time of the event at the cursor, by the host's clock.
  std::optional<Timestamp> event_time;
  /// The time since `event_time`. This is not the lag, because the source may have sent no event
  /// since then.
  std::optional<double> cursor_age_seconds;
  /// The text of a JSON object, and the age of the metrics.
  std::optional<std::string> metrics;
  std::optional<double> metrics_age_seconds;
};

/// Returns all sources of the database by name. Throws SqlError.
std::vector<StoredSource> read_sources(postgres::Session& session);

/// The result of forget_source.
struct ForgottenSource {
  /// False if the database has no source with this name.
  bool is_known = false;
  std::optional<std::int64_t> cursor;
  std::size_t tombstones = 0;
  /// The number of tombstones of accounts with a running backfill, which are needed until the
  /// backfill ends.
  std::size_t tombstones_kept = 0;
};

/// Deletes the cursor, metrics and tombstones of a source in one transaction. The rows of the
/// source's events stay. Throws SourceBusy if a process reads the source, or SqlError.
ForgottenSource forget_source(postgres::Session& session, std::string_view source);

}  // namespace skua::tables
