#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <string>

#include "store/session.hpp"

namespace skua::backfill {

/// Filling an empty database is faster without the indexes that only readers need: one sorted build
/// at the end instead of a million random insertions. What indexing itself needs stays: primary
/// keys, all of bsky.actors, bsky.collections and bsky.rkeys. What was taken away stands in
/// `skua.dropped_indexes`, in the same transaction, until it is back; a process may die at any
/// moment, and `finish_bootstrap` of another brings back what is missing.
///
/// Sources are kept away meanwhile: `begin_bootstrap` refuses beside one that is held
/// (store::SourceLock), and who holds a source must look at `bootstrap_is_open` after it has
/// taken the lock and before it writes, and give up if it is. In this order no moment is left
/// between the two.

/// A bootstrap cannot begin here; the message says why and what to do.
class BootstrapRefused : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Whether a bootstrap was begun and not finished.
bool bootstrap_is_open(store::Session& session);
/// How many indexes are still to be built.
std::size_t missing_indexes(store::Session& session);

/// Drops the indexes and returns how many; if a bootstrap is open already it is gone on with, and
/// none are dropped. Opens a transaction of its own. Throws BootstrapRefused while a source is
/// held, or when a record table has rows, and store::SqlError: a reader that is at it for more than
/// 10 s is one (SQLSTATE 55P03).
std::size_t begin_bootstrap(store::Session& session);

/// How indexes are built.
struct IndexBuilds {
  /// Sessions. Each builds one index, besides what `max_parallel_maintenance_workers` adds.
  int at_once = 2;
  /// Memory of all builds together, in megabytes, at least 16 each.
  std::int64_t memory_mb = 1024;
};

/// Builds the indexes again, those of the largest tables first, and returns how many. Blocks for as
/// long as it takes: hours with the whole network. `on_built` is called with the name of each, on
/// any of its threads, one at a time. What another process builds is waited for, and built here if
/// that one ends before: none is missing in the end. A server that is away is waited for too.
/// Nothing may write to the tables meanwhile; it would wait.
///
/// A stop breaks off the builds that are under way, which the server then undoes; what was built
/// stays, and another call goes on. So it does when a build fails: throws what the first one that
/// failed threw (store::SqlError), after the others have ended.
std::size_t finish_bootstrap(const std::string& url, const IndexBuilds& builds,
                             const std::stop_token& stop = {},
                             const std::function<void(const std::string& name)>& on_built = {});

}  // namespace skua::backfill
