#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::store {

/// The state of a source in the database: `skua.cursors` and `skua.metrics`. The name of a source
/// is its kind and host (`relay:relay1.us-east.bsky.network`), because each host has its own
/// sequence numbers.

/// The last saved cursor; nothing if none was saved.
std::optional<std::int64_t> load_cursor(Session& session, std::string_view source);

/// Saves the cursor, and deletes the source's tombstones before it, in the caller's transaction.
/// Tombstones of accounts with a running backfill (`skua.backfill_jobs`) are deleted with the first
/// cursor that is saved after the backfill. `event_time` is the time of that frame by the host's
/// clock; the epoch: unknown.
void save_cursor(Session& session, std::string_view source, std::int64_t cursor,
                 Timestamp event_time);

/// Deletes the tombstones of a source, except those of accounts with a running backfill.
void purge_all_tombstones(Session& session, std::string_view source);

/// Replaces the source's metrics (`skua.metrics`) with `json`, the text of a JSON object.
void save_metrics(Session& session, std::string_view source, std::string_view json);

}  // namespace skua::store
