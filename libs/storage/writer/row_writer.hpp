#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "postgres/session.hpp"
#include "writer/worker_services.hpp"

namespace skua::writer {

/// The events of a batch that have an effect, as indices into the batch, in its order.
struct Folded {
  /// The events that still have an effect on rows. Of several changes of one record (actor,
  /// collection, rkey), only the change with the newest revision survives, and the later one if
  /// revisions are equal. All other events survive.
  std::vector<std::size_t> survivors;
  /// The newest delete of each record that also has a later write that survives. The delete changes
  /// no row, but it leaves its tombstone, as in a batch of its own, because the database must not
  /// depend on the boundaries of batches.
  std::vector<std::size_t> overtaken_deletes;
};

/// Finds the events that have an effect. The ids of the events must be resolved.
Folded fold_batch(std::span<const event::ResolvedEvent* const> batch);

/// A change that passes the tombstones, the minimum revisions and `bsky.records`. The table's own
/// statement compares the change with the row of a typed table.
struct GuardedChange {
  const event::ResolvedEvent* event = nullptr;
  /// Whether `bsky.records` has a row of the same key with an older revision.
  bool has_records_row = false;
};

/// Drops the changes that are not news: at or below the tombstone of their key, the minimum
/// revision of their account, or the row of the same key in `bsky.records`. It is one statement for
/// the batch, which must follow the locks in the same transaction. `changes` has only record
/// changes.
std::vector<GuardedChange> drop_known(postgres::Session& session,
                                      std::span<const event::ResolvedEvent* const> changes);

/// Writes a batch of resolved events as one transaction of set-based statements. Each statement is
/// sorted by its conflict key. The steps of a transaction are:
///
///   1. locks, by a statement of their own: later statements see the commits of earlier owners
///   2. the known state of the keys: tombstones, invalid records, minimum revisions
///   3. the tables
///   4. tombstones of the deletes
///   5. accounts
///   6. labels
///   7. dead letters
///   8. the change log
///   9. commit
///
/// The transaction is idempotent because of revisions, tombstones and minimum revisions: a batch
/// whose outcome is unknown is written again. The RowWriter has no state but the names of the
/// sources. The worker that owns the session calls it.
class RowWriter {
 public:
  /// `sources` has the names of one or several sources, for tombstones and dead letters.
  explicit RowWriter(SourceNames sources) : sources_(std::move(sources)) {}

  using Batch = std::span<const event::ResolvedEvent* const>;

  struct Outcome {
    std::size_t rows = 0;       // rows whose content was inserted, changed or deleted
    std::size_t unchanged = 0;  // records without effect: excluded, repeated, or folded away
    std::size_t dead_letters = 0;
    /// Indices of the events of accounts that another worker has locked, in the order of the batch.
    /// Nothing of these events was written. Only live batches have such events, because a backfill
    /// batch waits for its locks.
    std::vector<std::size_t> busy;
    /// The DIDs of deleted accounts that were added to `skua.purges`.
    std::vector<std::string> purges;
    /// The events of posts whose CIDs are the first CIDs of the posts (Effects::first_version).
    std::vector<const event::ResolvedEvent*> first_versions;
  };

  /// Throws postgres::SqlError, and then nothing is written, unless the connection broke during the
  /// commit. In that case the batch may have been written, and to write it again changes nothing.
  Outcome write(postgres::Session& session, Batch batch, Timestamp now) const;

 private:
  SourceNames sources_;
};

}  // namespace skua::writer
