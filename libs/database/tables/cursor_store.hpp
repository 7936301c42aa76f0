#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "postgres/session.hpp"

namespace skua::tables {

/// The state of a source in the database: `skua.cursors` and `skua.metrics`. The name of a source
/// is its kind and host (`relay:relay1.us-east.bsky.network`), because each host has its own
/// sequence numbers.

/// The last saved cursor; nothing if none was saved.
std::optional<std::int64_t> load_cursor(postgres::Session& session, std::string_view source);

/// Saves the cursor, and deletes the source's tombstones before it, in the caller's transaction.
/// Tombstones of accounts with a running backfill (`skua.backfill_jobs`) are deleted with the first
/// cursor that is saved after the backfill. `event_time` is the time of that frame by the host's
/// clock; the epoch: unknown.
void save_cursor(postgres::Session& session, std::string_view source, std::int64_t cursor,
                 Timestamp event_time);

/// Deletes the tombstones of a source, except those of accounts with a running backfill.
void purge_all_tombstones(postgres::Session& session, std::string_view source);

/// Replaces the source's metrics (`skua.metrics`) with `json`, the text of a JSON object.
void save_metrics(postgres::Session& session, std::string_view source, std::string_view json);

/// How far `skua.identities` follows the export of the PLC directory (`skua.plc_cursor`).
struct PlcCursor {
  /// All operations after this time, up to `newest`, were applied; nothing: all since the first.
  std::optional<Timestamp> since = {};
  /// The time of the newest applied operation, by the directory's clock.
  Timestamp newest = {};
  /// The CIDs of the operations shortly before `newest` that were applied, in any order.
  std::vector<std::string> cids = {};
  /// The time up to which the identities are current.
  Timestamp current_at = {};
};

/// Nothing: no import has set it, and no tail has begun. Throws SqlError, as all here.
std::optional<PlcCursor> load_plc_cursor(postgres::Session& session);

/// Sets the first cursor. False: there is one already.
bool begin_plc_cursor(postgres::Session& session, const PlcCursor& cursor);

/// Replaces the cursor whose `newest` and `since` are those of `from`, in the caller's transaction,
/// and locks the row until its end. False: another session has changed it.
bool advance_plc_cursor(postgres::Session& session, const PlcCursor& from, const PlcCursor& to);

/// An import has applied all operations from `since` (nothing: the first) to `newest`. The cursor
/// covers what it covered before and this, if nothing is missing between them. Otherwise it stays
/// at the earlier one of the two, so that a tail reads what lies between.
void add_to_plc_cursor(postgres::Session& session, std::optional<Timestamp> since,
                       Timestamp newest);

}  // namespace skua::tables
