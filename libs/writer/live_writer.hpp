#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "store/session.hpp"
#include "writer/source_names.hpp"

namespace skua::writer {

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
class LiveWriter {
 public:
  /// Where the events come from, for tombstones and dead letters: of one source, or of several.
  explicit LiveWriter(SourceNames sources) : sources_(std::move(sources)) {}

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

  /// Throws store::SqlError; nothing is written then. (If the connection broke during the commit,
  /// the batch may have been written: writing it again changes nothing.)
  Outcome write(store::Session& session, Batch batch, Timestamp now) const;

 private:
  SourceNames sources_;
};

}  // namespace skua::writer
