#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "records/record_type.hpp"
#include "store/advisory_lock.hpp"
#include "store/session.hpp"
#include "writer/effects.hpp"

namespace skua::writer {

/// So many rows take some tens of milliseconds: nobody waits long for an account whose rows are
/// being removed.
inline constexpr std::size_t kRowsOfRemoval = 5'000;

/// Takes the locks of all record types of an account for the transaction, and waits for them.
/// Throws store::SqlError.
inline void lock_account(store::Session& session, const std::string& did) {
  std::vector<store::Lock> locks;
  locks.reserve(records::kRecordTypes.size());
  for (const auto type : records::kRecordTypes) {
    locks.push_back(store::account_lock(session, static_cast<std::uint8_t>(type), did));
  }
  store::lock_xact(session, std::move(locks));
}

/// Calls `remove(Effects&)` in a transaction with the locks of the account. Returns its result, the
/// number of rows. Outside a transaction. Throws store::SqlError.
template <class F>
std::size_t remove_step(store::Session& session, const std::string& did, F&& remove) {
  store::Transaction transaction(session);
  lock_account(session, did);
  Effects effects;
  const std::size_t rows = remove(effects);
  effects.finish(session);
  transaction.commit();
  return rows;
}

/// Repeats remove_step until it returns fewer rows than kRowsOfRemoval. Returns the number of all
/// rows.
template <class F>
std::size_t remove_in_steps(store::Session& session, const std::string& did, F&& remove) {
  std::size_t rows = 0;
  for (;;) {
    const std::size_t removed = remove_step(session, did, remove);
    rows += removed;
    if (removed < kRowsOfRemoval) return rows;
  }
}

}  // namespace skua::writer
