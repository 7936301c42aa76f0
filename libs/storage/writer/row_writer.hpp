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

/// The effect of a batch. Indices into it, in its order.
struct Folded {
  /// The events that still have an effect on rows: of several changes of one record (actor,
  /// collection, rkey) only the one with the newest rev, the later one where revs are equal;
  /// everything else.
  std::vector<std::size_t> survivors;
  /// For each record with a later write that survives: its newest delete. It changes no row but
  /// leaves its tombstone, as it would in a batch of its own: the database must not depend on the
  /// boundaries of batches.
  std::vector<std::size_t> overtaken_deletes;
};

/// Needs resolved ids.
Folded fold_batch(std::span<const event::ResolvedEvent* const> batch);

/// A change that may be written, as far as tombstones, floors and `bsky.records` tell. The row of a
/// typed table is compared by the table's own statement.
struct GuardedChange {
  const event::ResolvedEvent* event = nullptr;
  /// A row of the same key stands in `bsky.records`, with an older rev.
  bool has_records_row = false;
};

/// Drops the changes that are not news: those at or below their key's tombstone, their repository's
/// floor, or the row of the same key in `bsky.records`. One statement for the batch, which must
/// come after the locks, in the same transaction. `changes` holds record changes only.
std::vector<GuardedChange> drop_known(postgres::Session& session,
                                      std::span<const event::ResolvedEvent* const> changes);

/// Writes a batch of resolved events as one transaction of set-based statements, each sorted by its
/// conflict key:
///
///   locks (a statement of their own, so that all that follows sees what their last owner
///   committed)
///   -> what is known of the keys: tombstones, invalid records, floors
///   -> the tables -> tombstones of the deletes -> accounts -> labels -> dead letters
///   -> the change log -> commit
///
/// The rev guard, the tombstones and the floor make it idempotent: a batch whose outcome is unknown
/// is simply written again. Holds no state but the sources' names; the worker that owns the session
/// calls it.
class RowWriter {
 public:
  /// Where the events come from, for tombstones and dead letters: of one source, or of several.
  explicit RowWriter(SourceNames sources) : sources_(std::move(sources)) {}

  using Batch = std::span<const event::ResolvedEvent* const>;

  struct Outcome {
    std::size_t rows = 0;       // whose content was inserted, changed or deleted
    std::size_t unchanged = 0;  // records without effect: excluded, repeated, or folded away
    std::size_t dead_letters = 0;
    /// Indices of the events of accounts that another worker holds, in their order: nothing was
    /// written of them. Only live batches have any; a backfill batch waits for its locks.
    std::vector<std::size_t> busy;
    /// The DIDs of deleted accounts that were added to `skua.purges`.
    std::vector<std::string> purges;
  };

  /// Throws postgres::SqlError; nothing is written then. (If the connection broke during the
  /// commit, the batch may have been written: writing it again changes nothing.)
  Outcome write(postgres::Session& session, Batch batch, Timestamp now) const;

 private:
  SourceNames sources_;
};

}  // namespace skua::writer
