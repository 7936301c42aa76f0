#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "atproto/tid.hpp"
#include "base/account_number.hpp"
#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "postgres/session.hpp"
#include "writer/effects.hpp"
#include "writer/worker_services.hpp"

namespace skua::writer {

/// Records deletes in `skua.tombstones` (actor, collection, rkey, rev), so that an older write of
/// the same key that comes later cannot bring the record back. `deletes` is sorted by key, without
/// duplicates. They are removed when the saved cursor has passed them (tables/cursor_store.hpp).
void write_tombstones(postgres::Session& session,
                      std::span<const event::ResolvedEvent* const> deletes,
                      const SourceNames& sources);

/// Stores `#identity` and `#account` events in `bsky.actors`: the handle and the hosting status.
/// The newest event wins, by the time of its host, so that a repetition changes nothing. For a
/// handle with several claimants see writer/handle_claims.hpp; an empty handle is none. The minimum
/// revision of a deleted account becomes its newest earlier revision (bounded by the time of the
/// event if that is not known), and the account is added to `skua.purges`
/// (writer/account_changes.hpp). If an account is active and its job (`skua.backfill_jobs`) was
/// unavailable, the job is queued again. Other events are ignored. Returns the DIDs of the accounts
/// that were added to `skua.purges`.
std::vector<std::string> write_account_changes(postgres::Session& session,
                                               std::span<const event::ResolvedEvent* const> events,
                                               Timestamp now, Effects& effects);

/// A purge deletes all records of a deleted account up to its minimum revision, and its labels up
/// to its deletion, from every table. The transaction that raises the minimum revision adds the
/// account to `skua.purges`: after it no older event is accepted, and newer rows stay in any order.
/// The steps follow, each a transaction of its own, on any thread. A transaction that changes a row
/// of `skua.purges` holds the locks of all record types of its account.
struct Purge {
  std::string did;
  AccountNumber actor_id = 0;
  /// The newest revision that the account had when it was deleted.
  atproto::Tid floor;
  /// The time of the deletion: labels have no revision.
  Timestamp said_at = {};
};

/// Adds the accounts that have rows to `skua.purges`, in the transaction that raises their minimum
/// revisions and holds their locks. Returns their DIDs. Throws postgres::SqlError.
std::vector<std::string> add_purges(postgres::Session& session, std::span<const Purge> purges);

struct PurgeStep {
  std::size_t rows = 0;
  /// The account is not in `skua.purges` any more.
  bool is_done = false;
};

/// Deletes up to `limit` rows of an account in `skua.purges`, in a transaction. Nothing if another
/// transaction holds a lock of the account for more than a second. Outside a transaction. Throws
/// postgres::SqlError, and may then be called again.
PurgeStep purge_step(postgres::Session& session, const std::string& did, std::size_t limit);

/// Up to a hundred accounts of `skua.purges`, sorted, that follow `did`; none during a bootstrap,
/// when the tables have no indexes. Throws postgres::SqlError.
std::vector<std::string> purges_after(postgres::Session& session, const std::string& did);

/// Whether a host's answer confirmed a deletion.
struct Confirmation {
  /// The stored status of the account is `deleted`.
  bool is_deleted = false;
  /// The account is in `skua.purges` now.
  bool has_rows = false;
};

/// For an account whose host confirms a deletion that the stream reported earlier: raises the
/// minimum revision to the time of that report, or to the newest revision that is known, if this is
/// later, and adds the purge. `tombstoned_at`: the DID was found tombstoned at this time, which
/// counts as such a report. Waits for the account's locks. Outside a transaction. Throws
/// postgres::SqlError.
Confirmation confirm_deletion(postgres::Session& session, const std::string& did,
                              std::optional<Timestamp> tombstoned_at = std::nullopt);

}  // namespace skua::writer
