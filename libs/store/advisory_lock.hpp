#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "store/session.hpp"

namespace skua::store {

// PostgreSQL has two spaces of advisory locks: one 64-bit number, and two 32-bit numbers. Accounts
// and handles are in the first, sources and migrations in the second (store/source_lock.hpp). In
// the first the three highest bits say the kind: 0 to 4 are the record types, 5 are handles. The
// rest is a SipHash with the database's secret, so that nobody can choose a name that meets
// another's lock.

/// The lock of an account's record type, or of a handle. `name` is the DID or the handle, for the
/// log; the caller's text must outlive it.
struct Lock {
  std::int64_t key = 0;
  std::string_view name;
};

/// The lock of (record type, DID). `record_type` is below 5. Reads the database's secret once a
/// session. Throws SqlError.
Lock account_lock(Session& session, std::uint8_t record_type, std::string_view did);
/// The lock of a handle.
Lock handle_lock(Session& session, std::string_view handle);

/// Puts locks into the order in which all take them, and removes doubles.
void sort_locks(std::vector<Lock>& locks);

/// Takes the transaction's locks, in their order, in one statement; does not wait. `locks` comes
/// from `sort_locks`: the order is what keeps two batches from a deadlock. True at the places whose
/// lock this transaction now holds.
std::vector<bool> try_lock_xact(Session& session, std::span<const Lock> locks);

/// Takes the transaction's locks in ascending order and in one statement, so that no two callers
/// deadlock, and waits for each. They may be in any order and repeated. If one is not free within
/// the session's `lock_timeout`, the transaction is rolled back, which releases the others.
/// ServerError (55P03) then names the session that holds it, and the caller repeats the
/// transaction.
void lock_xact(Session& session, std::vector<Lock> locks);

/// Notes that others hold these locks. The log names those that have been held for a minute, with
/// the holder, once a minute. Outside a transaction. Never throws: it is a courtesy.
void note_busy(Session& session, std::span<const Lock> locks) noexcept;

}  // namespace skua::store
