#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::store {

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
std::optional<PlcCursor> load_plc_cursor(Session& session);

/// Sets the first cursor. False: there is one already.
bool begin_plc_cursor(Session& session, const PlcCursor& cursor);

/// Replaces the cursor whose `newest` and `since` are those of `from`, in the caller's transaction,
/// and locks the row until its end. False: another session has changed it.
bool advance_plc_cursor(Session& session, const PlcCursor& from, const PlcCursor& to);

/// An import has applied all operations from `since` (nothing: the first) to `newest`. The cursor
/// covers what it covered before and this, if nothing is missing between them. Otherwise it stays
/// at the earlier one of the two, so that a tail reads what lies between.
void add_to_plc_cursor(Session& session, std::optional<Timestamp> since, Timestamp newest);

}  // namespace skua::store
