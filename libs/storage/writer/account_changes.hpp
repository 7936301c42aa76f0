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
/// duplicates. A tombstone is removed when the saved cursor has passed the delete
/// (tables/cursor_store.hpp).
void write_tombstones(postgres::Session& session,
                      std::span<const event::ResolvedEvent* const> deletes,
                      const SourceNames& sources);

/// Stores `#identity` and `#account` events in `bsky.actors`: the handle and the hosting status.
/// The newest event wins, by the time of its host, so that a repetition changes nothing.
/// writer/handle_claims.hpp describes handles with several claimants. An empty handle means that
/// the account has none. The minimum revision of a deleted account becomes its newest earlier
/// revision, or the time of the event if that revision is not known, and the account is added to
/// `skua.purges`. If an account is active and its job (`skua.backfill_jobs`) was unavailable, the
/// job is queued again. Other events are ignored. Returns the DIDs of the accounts that were added
/// to `skua.purges`.
std::vector<std::string> write_account_changes(postgres::Session& session,
                                               std::span<const event::ResolvedEvent* const> events,
                                               Timestamp now, Effects& effects);

/// A purge deletes all records of a deleted account up to its minimum revision, and its labels up
/// to its deletion, from every table. The transaction that raises the minimum revision adds the
/// account to `skua.purges`. After that transaction no older event is accepted, and newer rows stay
/// in any order. The steps of the purge follow. Each is a transaction of its own, on any thread. A
/// transaction that changes a row of `skua.purges` holds the locks of all record types of its
/// account.
struct Purge {
  std::string did;
  AccountNumber actor_id = 0;
  /// The newest revision that the account had when it was deleted.
  atproto::Tid floor;
  /// The time of the deletion. It bounds the labels, which have no revision.
  Timestamp said_at = {};
};

/// Adds the accounts that have rows to `skua.purges`, in the transaction that raises their minimum
/// revisions and holds their locks. Returns their DIDs. Throws postgres::SqlError.
std::vector<std::string> add_purges(postgres::Session& session, std::span<const Purge> purges);

struct PurgeStep {
  std::size_t rows = 0;
  /// Whether the account is no longer in `skua.purges`.
  bool is_done = false;
};

/// Deletes up to `limit` rows of an account in `skua.purges`, in a transaction. Deletes nothing if
/// another transaction holds a lock of the account for more than a second. Call it outside of a
/// transaction. Throws postgres::SqlError, and may then be called again.
PurgeStep purge_step(postgres::Session& session, const std::string& did, std::size_t limit);

/// Returns up to a hundred accounts of `skua.purges` that follow `did`, sorted. Returns none during
/// a bootstrap, because the tables then have no indexes. Throws postgres::SqlError.
std::vector<std::string> purges_after(postgres::Session& session, const std::string& did);

/// Whether a host's answer confirmed a deletion.
struct Confirmation {
  /// Whether the stored status of the account is `deleted`.
  bool is_deleted = false;
  /// Whether the account is now in `skua.purges`.
  bool has_rows = false;
};

/// Stores a deletion that the stream reported earlier, and that the host of the account confirms.
/// It raises the minimum revision to the time of that report, or to the newest known revision if
/// this is later. It adds the purge. `tombstoned_at` is the time at which the DID was found
/// tombstoned, which counts as such a report. Waits for the locks of the account. Call it outside
/// of a transaction. Throws postgres::SqlError.
Confirmation confirm_deletion(postgres::Session& session, const std::string& did,
                              std::optional<Timestamp> tombstoned_at = std::nullopt);

}  // namespace skua::writer
