#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <string>

#include "postgres/session.hpp"

namespace skua::backfill {

/// A bootstrap drops the indexes that only readers need, because an empty database is filled faster
/// without them: one sorted build at the end replaces many random insertions. The indexes that
/// writers need stay: primary keys, and all of bsky.actors, bsky.collections and bsky.rkeys. The
/// same transaction lists the dropped indexes in `skua.dropped_indexes` until they are built again.
/// A process may crash at any time, and `finish_bootstrap` of another process then builds the
/// missing indexes.
///
/// No source may be read during a bootstrap. `begin_bootstrap` refuses while a source lock
/// (postgres::SourceLock) is held. A process that takes a source lock must call `bootstrap_is_open`
/// after it has the lock and before it writes, and stop if a bootstrap is open. This order leaves
/// no race.

/// The error of a bootstrap that cannot begin. The message gives the reason and tells what to do.
class BootstrapRefused : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Whether a bootstrap has begun and has not ended.
bool bootstrap_is_open(postgres::Session& session);
/// Returns how many indexes must still be built.
std::size_t missing_indexes(postgres::Session& session);

/// Drops the indexes and returns their number. If a bootstrap has already begun, it continues, and
/// none is dropped. It opens a transaction of its own. Throws BootstrapRefused if a source lock is
/// held, or a record table has rows. Throws postgres::SqlError, for example with SQLSTATE 55P03 if
/// a reader blocks it for more than 10 s.
std::size_t begin_bootstrap(postgres::Session& session);

/// The limits of index builds.
struct IndexBuilds {
  /// The number of sessions. Each builds one index, with the workers of
  /// `max_parallel_maintenance_workers`.
  int at_once = 2;
  /// The memory of all builds together in megabytes. Each build gets at least 16.
  std::int64_t memory_mb = 1024;
};

/// Builds the indexes again, those of the largest tables first, and returns their number. It blocks
/// until the end, which takes hours for the whole network. `on_built` is called with the name of
/// each index, on any of its threads, one call at a time. It waits for indexes that another process
/// builds, and builds them itself if that process ends before they are built, so that no index is
/// missing at the end. It also waits for a server that is not reachable. Writers of the tables wait
/// during a build.
///
/// A stop cancels active builds, which the server then rolls back. Finished indexes stay, and
/// another call continues. After a failed build it waits for the other builds, and throws the first
/// error (postgres::SqlError).
std::size_t finish_bootstrap(const std::string& url, const IndexBuilds& builds,
                             const std::stop_token& stop = {},
                             const std::function<void(const std::string& name)>& on_built = {});

}  // namespace skua::backfill
