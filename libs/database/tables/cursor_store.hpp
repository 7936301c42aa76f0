#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/account_number.hpp"
#include "base/time.hpp"
#include "postgres/session.hpp"

namespace skua::tables {

/// These functions keep the state of a source in the database: `skua.cursors` and `skua.metrics`.
/// The name of a source is its kind and host (`relay:relay1.us-east.bsky.network`), because each
/// host has its own sequence numbers.

/// Returns the last saved cursor, or nothing if none was saved.
std::optional<std::int64_t> load_cursor(postgres::Session& session, std::string_view source);

/// The cursors of groups that are ahead of the cursor of their source (`skua.group_cursors`). The
/// index is the group, and 0 means that the group is not ahead.
using GroupCursors = std::array<std::int64_t, kAccountGroups>;

/// Returns nothing if no group is ahead, which is so except after a move of groups.
std::optional<GroupCursors> load_group_cursors(postgres::Session& session, std::string_view source);

/// Saves the cursor, ends the cursors of groups that it has reached, and deletes the source's
/// tombstones before it, in the caller's transaction. Tombstones of accounts with a running
/// backfill (`skua.backfill_jobs`) are deleted with the first cursor that is saved after the
/// backfill. While groups of accounts arrive from another node, no tombstones are deleted.
/// `event_time` is the time of the frame at the cursor by the host's clock, or the epoch if it is
/// unknown.
void save_cursor(postgres::Session& session, std::string_view source, std::int64_t cursor,
                 Timestamp event_time);

/// Deletes the tombstones of a source, except those of accounts with a running backfill.
void purge_all_tombstones(postgres::Session& session, std::string_view source);

/// Replaces the source's metrics (`skua.metrics`) with `json`, the text of a JSON object.
void save_metrics(postgres::Session& session, std::string_view source, std::string_view json);

/// The part of the PLC directory's export that `skua.identities` contains (`skua.plc_cursor`).
struct PlcCursor {
  /// All operations after this time, up to `newest`, were applied. Without a value, all operations
  /// since the first were.
  std::optional<Timestamp> since = {};
  /// The time of the newest applied operation, by the directory's clock.
  Timestamp newest = {};
  /// The CIDs of the operations shortly before `newest` that were applied, in any order.
  std::vector<std::string> cids = {};
  /// The time up to which the identities are current.
  Timestamp current_at = {};
};

/// Returns nothing if no import has set the cursor and no tail has begun. All functions below throw
/// SqlError.
std::optional<PlcCursor> load_plc_cursor(postgres::Session& session);

/// Sets the first cursor. Returns false if there is a cursor already.
bool begin_plc_cursor(postgres::Session& session, const PlcCursor& cursor);

/// Replaces the cursor whose `newest` and `since` are those of `from`, in the caller's transaction,
/// and locks the row until the end of the transaction. Returns false if another session has changed
/// the cursor.
bool advance_plc_cursor(postgres::Session& session, const PlcCursor& from, const PlcCursor& to);

/// Notes that an import has applied all operations from `since` (nothing means the first operation)
/// to `newest`. If no operations are missing between the cursor and the import, the cursor then
/// covers both. Otherwise the cursor takes or keeps the earlier of the two, so that a tail reads
/// the operations between them.
void add_to_plc_cursor(postgres::Session& session, std::optional<Timestamp> since,
                       Timestamp newest);

}  // namespace skua::tables
