#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <string>

#include "postgres/session.hpp"

namespace skua::backfill {

/// An empty database is filled faster without the indexes that only readers need: one sorted build
/// at the end replaces many random insertions. The indexes that writers need stay: primary keys,
/// and all of bsky.actors, bsky.collections and bsky.rkeys. `skua.dropped_indexes` lists the
/// dropped indexes, in the same transaction, until they are built again. A process may crash at any
/// time: `finish_bootstrap` of another process builds the missing ones.
///
/// No source may be read during a bootstrap. `begin_bootstrap` refuses while a source lock
/// (postgres::SourceLock) is held. A process that takes a source lock must check
/// `bootstrap_is_open` after it has the lock and before it writes, and stop if it is. This order
/// leaves no race.

/// A bootstrap cannot begin; the message gives the reason and what to do.
class BootstrapRefused : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Whether a bootstrap has begun and has not ended.
bool bootstrap_is_open(postgres::Session& session);
/// How many indexes are still to be built.
std::size_t missing_indexes(postgres::Session& session);

/// Drops the indexes and returns how many. If a bootstrap has begun already, it continues and drops
/// none. Opens a transaction of its own. Throws BootstrapRefused while a source lock is held, or
/// when a record table has rows. Throws postgres::SqlError, among others when a reader blocks it
/// for more than 10 s (SQLSTATE 55P03).
std::size_t begin_bootstrap(postgres::Session& session);

/// The limits of index builds.
struct IndexBuilds {
  /// Sessions. Each builds one index, with the workers of `max_parallel_maintenance_workers`.
  int at_once = 2;
  /// Memory of all builds together, in megabytes, at least 16 each.
  std::int64_t memory_mb = 1024;
};

/// Builds the indexes again, those of the largest tables first, and returns how many. Blocks until
/// the end: hours for the whole network. `on_built` is called with the name of each index, on any
/// of its threads, one call at a time. It waits for indexes that another process builds, and builds
/// them itself if that process ends before: none is missing afterwards. It also waits for a server
/// that is down. Writers of the tables wait meanwhile.
///
/// A stop cancels active builds, which the server then rolls back. Finished indexes stay, and
/// another call continues. After a failed build it waits for the others, and throws the first error
/// (postgres::SqlError).
std::size_t finish_bootstrap(const std::string& url, const IndexBuilds& builds,
                             const std::stop_token& stop = {},
                             const std::function<void(const std::string& name)>& on_built = {});

}  // namespace skua::backfill
