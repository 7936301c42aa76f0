#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "postgres/locks.hpp"
#include "postgres/session.hpp"
#include "records/reference.hpp"
#include "writer/effects.hpp"

namespace skua::writer {

/// Returns the locks of all record types of an account.
inline std::vector<postgres::Lock> locks_of_account(postgres::Session& session,
                                                    const std::string& did) {
  std::vector<postgres::Lock> locks;
  locks.reserve(records::kRecordTypes.size());
  for (const auto type : records::kRecordTypes) {
    locks.push_back(postgres::account_lock(session, static_cast<std::uint8_t>(type), did));
  }
  return locks;
}

/// The removal of this many rows takes some tens of milliseconds, so other writers of the account
/// do not wait long.
inline constexpr std::size_t kRowsOfRemoval = 5'000;

/// Removes rows in transactions with the locks of the account, for which it waits. Each transaction
/// calls `remove(Effects&)`, which returns the number of rows that it removed. The last transaction
/// is the one that removes fewer rows than kRowsOfRemoval. Returns the number of all rows. Call it
/// outside of a transaction. Throws postgres::SqlError.
template <class F>
std::size_t remove_in_steps(postgres::Session& session, const std::string& did, F&& remove) {
  std::size_t rows = 0;
  for (;;) {
    postgres::Transaction transaction(session);
    postgres::lock_xact(session, locks_of_account(session, did));
    Effects effects;
    const std::size_t removed = remove(effects);
    effects.finish(session);
    transaction.commit();
    rows += removed;
    if (removed < kRowsOfRemoval) return rows;
  }
}

}  // namespace skua::writer
