#pragma once

#include "feed/consumers/failed_work.hpp"
#include "store/sql_error.hpp"

namespace skua::feed {

/// How dependent projections learn that the tables of a projection are exchanged or removed.
enum class Publication : std::uint8_t {
  /// The differences between the former tables and the next ones are appended to the log.
  Differences,
  /// The former tables cannot be read: dependent projections are rebuilt.
  Rebuild,
};

/// Runs a transaction with `Differences`, and after a failure that broken tables can cause once
/// more with `Rebuild`. Throws store::SqlError.
template <class Transaction>
auto with_publication(Transaction&& transaction) {
  try {
    return transaction(Publication::Differences);
  } catch (const store::SqlError& error) {
    const FailedWork failed = failed_work(error);
    if (failed == FailedWork::Server || failed == FailedWork::Lock) throw;
  }
  return transaction(Publication::Rebuild);
}

}  // namespace skua::feed
