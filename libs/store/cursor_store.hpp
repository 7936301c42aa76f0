#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::store {

/// The state of a source in the database: `skua.cursors` and `skua.figures`. The name of a source
/// is its kind and host (`relay:relay1.us-east.bsky.network`), because each host has its own
/// sequence numbers.

/// The cursor that was saved last; nothing: never.
std::optional<std::int64_t> load_cursor(Session& session, std::string_view source);

/// Saves the cursor, and removes the source's tombstones that it has passed, in the caller's
/// transaction; those of accounts whose backfill is running (`skua.backfill_jobs`) go with the
/// first cursor that is saved after it. `event_time` is when the host made that frame; the epoch:
/// not known.
void save_cursor(Session& session, std::string_view source, std::int64_t cursor,
                 Timestamp event_time);

/// Removes the tombstones of a source, but for those of accounts whose backfill is running.
void purge_all_tombstones(Session& session, std::string_view source);

/// Replaces the source's figures by `json`, the text of a JSON object.
void save_metrics(Session& session, std::string_view source, std::string_view json);

}  // namespace skua::store
