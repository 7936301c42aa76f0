#pragma once

#include <cstddef>
#include <string>

#include "store/advisory_lock.hpp"
#include "store/session.hpp"
#include "writer/account_locks.hpp"
#include "writer/effects.hpp"

namespace skua::writer {

/// The removal of this many rows takes some tens of milliseconds, so other writers of the account
/// do not wait long.
inline constexpr std::size_t kRowsOfRemoval = 5'000;

/// Calls `remove(Effects&)`, which returns a number of rows, in transactions with the locks of the
/// account, for which it waits, until it removes fewer rows than kRowsOfRemoval. Returns the number
/// of all rows. Call it outside of a transaction. Throws store::SqlError.
template <class F>
std::size_t remove_in_steps(store::Session& session, const std::string& did, F&& remove) {
  std::size_t rows = 0;
  for (;;) {
    store::Transaction transaction(session);
    store::lock_xact(session, locks_of_account(session, did));
    Effects effects;
    const std::size_t removed = remove(effects);
    effects.finish(session);
    transaction.commit();
    rows += removed;
    if (removed < kRowsOfRemoval) return rows;
  }
}

}  // namespace skua::writer
