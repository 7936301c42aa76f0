#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "store/session.hpp"

namespace skua::store {

// PostgreSQL has two spaces of advisory locks: one 64-bit number, and two 32-bit numbers. Accounts
// and handles use the first, sources and migrations the second (store/source_lock.hpp). In the
// first, the three highest bits are the kind: 0 to 4 are the record types, 5 is a handle. The rest
// is a SipHash with the database's secret, so that nobody can choose a name whose lock collides
// with another one.

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

/// Sorts locks into the order in which all sessions take them, and removes duplicates.
void sort_locks(std::vector<Lock>& locks);

/// Takes locks for the transaction, in their order, in one statement; does not wait. `locks` comes
/// from `sort_locks`: the common order prevents deadlocks between batches. The result is true at
/// the position of each lock that this transaction now holds.
std::vector<bool> try_lock_xact(Session& session, std::span<const Lock> locks);

/// Takes locks for the transaction in ascending order and in one statement, so that no two callers
/// deadlock, and waits for each. `locks` may be in any order and contain duplicates. If a lock is
/// not free within the session's `lock_timeout`, the transaction is rolled back, which releases the
/// others. The ServerError (55P03) then names the session that holds the lock, and the caller
/// repeats the transaction.
void lock_xact(Session& session, std::vector<Lock> locks);

/// Records that other sessions hold these locks. Once a minute the log names locks that have been
/// held for a minute, with the session that holds each. Call it outside a transaction. Never
/// throws, because it only serves the log.
void note_busy(Session& session, std::span<const Lock> locks) noexcept;

}  // namespace skua::store
