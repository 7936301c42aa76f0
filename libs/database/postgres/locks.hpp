#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "postgres/session.hpp"

namespace skua::postgres {

// PostgreSQL has two spaces of advisory locks: one 64-bit number, and two 32-bit numbers. Accounts
// and handles use the first space, sources and migrations the second. In the first space, the three
// highest bits are the kind: 0 to 4 are the record types, 5 is a handle. The other bits are a
// SipHash with the database's secret, so that nobody can choose a name whose lock collides with
// another one.

/// The lock of an account's record type, or of a handle. `name` is the DID or the handle, for the
/// log; the caller's text must outlive the lock.
struct Lock {
  std::int64_t key = 0;
  std::string_view name;
};

/// Returns the lock of (record type, DID). `record_type` is below 5. Each session reads the
/// database's secret once. Throws SqlError.
Lock account_lock(Session& session, std::uint8_t record_type, std::string_view did);
/// Returns the lock of a handle.
Lock handle_lock(Session& session, std::string_view handle);

/// Sorts locks into the order in which all sessions take them, and removes duplicates.
void sort_locks(std::vector<Lock>& locks);

/// Takes locks for the transaction, in their order, in one statement, and does not wait. `locks`
/// comes from `sort_locks`: the common order prevents deadlocks between batches. The result is true
/// at the position of each lock that this transaction now holds.
std::vector<bool> try_lock_xact(Session& session, std::span<const Lock> locks);

/// Takes locks for the transaction and waits for each of them. Takes them in ascending order in one
/// statement, so that no two callers deadlock. `locks` may be in any order and contain duplicates.
/// If a lock is not free within the session's `lock_timeout`, the transaction is rolled back, which
/// releases the other locks. The ServerError (55P03) then names the session that holds the lock,
/// and the caller repeats the transaction.
void lock_xact(Session& session, std::vector<Lock> locks);

/// Records that other sessions hold these locks. Once a minute the log names locks that have been
/// held for a minute, with the session that holds each. Call this function outside of a
/// transaction. Never throws, because only the log depends on it.
void note_busy(Session& session, std::span<const Lock> locks) noexcept;

/// An advisory lock of one 64-bit number.
struct RecordLockKey {
  std::int64_t key = 0;
};

/// An advisory lock of two 32-bit numbers, both not negative.
struct NamedLockKey {
  std::int32_t space = 0;
  std::int32_t key = 0;
};

/// Returns the session that holds a lock in this session's database, for messages: its application
/// name, server process, address and start time. Returns nothing if no session holds the lock.
/// Throws SqlError.
std::optional<std::string> lock_owner(Session& session, RecordLockKey key);
std::optional<std::string> lock_owner(Session& session, NamedLockKey key);

/// Takes an advisory lock for its session, if the lock is free, until this object ends. A
/// transaction that starts after it sees all that the former holder committed. The lock is lost if
/// the session's connection breaks.
class TriedLock {
 public:
  /// Does not wait. Throws SqlError.
  TriedLock(Session& session, NamedLockKey key);
  ~TriedLock();
  TriedLock(const TriedLock&) = delete;
  TriedLock& operator=(const TriedLock&) = delete;

  /// Returns false if another session had the lock.
  [[nodiscard]] bool is_taken() const { return taken_; }

 private:
  Session& session_;
  const NamedLockKey key_;
  const bool taken_;
};

/// Measures how long other sessions have held the locks that this process waits for. Any thread.
/// Bounded to 10,000 locks.
class BusyLocks {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Busy {
    Lock lock;
    std::chrono::seconds busy_for;
  };

  /// Notes that other sessions hold these locks now. A lock that was not reported for 30 seconds
  /// counts as free in between. Returns the locks that have been held for a minute or longer and
  /// were not returned within the last minute.
  std::vector<Busy> seen(std::span<const Lock> locks, Time now);

 private:
  struct Entry {
    Time first;
    Time last;
    Time told;
  };

  std::mutex mutex_;
  // The keys are hashes already, and outsiders cannot predict them, so the map needs no other hash.
  boost::unordered_flat_map<std::int64_t, Entry> entries_;
};

/// Returns the instance of this process.
BusyLocks& busy_locks();

// A session advisory lock has two 32-bit numbers: a class that we define, and a number within the
// class. Locks of accounts and handles use one 64-bit number, so they cannot collide with these
// locks.

/// Another session holds the lock of the source. The message names the session.
class SourceBusy : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Prevents a second process from reading the same source into the same database while this object
/// and its session exist. If the session's connection breaks, the lock is lost.
class SourceLock {
 public:
  /// Waits at most `patience`, because the lock of a killed process stays until the server notices.
  /// If an earlier session of this process (process_name) still holds the lock, that session is
  /// terminated. Throws SourceBusy with the application name, process id and start time of the
  /// session that holds the lock, or SqlError.
  SourceLock(Session& session, std::string_view source,
             std::chrono::milliseconds patience = std::chrono::seconds(2));
  ~SourceLock();
  SourceLock(const SourceLock&) = delete;
  SourceLock& operator=(const SourceLock&) = delete;

 private:
  Session& session_;
  const NamedLockKey key_;
};

/// Returns the session that holds a source, for messages, or nothing if the source is free.
std::optional<std::string> source_owner(Session& session, std::string_view source);

/// Prevents all sources from being locked until the caller's transaction ends; other sessions wait.
/// Used for work that must not run while a source is read. Returns false if a source is locked
/// already; `any_source_owner` names one.
bool keep_sources_away_xact(Session& session);

/// Returns a session that holds any source, for messages, or nothing if all sources are free.
std::optional<std::string> any_source_owner(Session& session);

/// Prevents two processes from migrating one database at the same time. Waits for the other
/// process, and logs the wait once a minute.
class MigrationLock {
 public:
  explicit MigrationLock(Session& session);
  ~MigrationLock();
  MigrationLock(const MigrationLock&) = delete;
  MigrationLock& operator=(const MigrationLock&) = delete;

 private:
  Session& session_;
};

/// Takes the lock of the process that follows the PLC directory, until the session ends. Does not
/// wait. Returns false if another session has the lock; call the function again until it returns
/// true. If an earlier session of this process (process_name) has the lock, that session is
/// terminated.
bool try_plc_lock(Session& session);

/// Returns the session that follows the PLC directory, for messages, or nothing if none does.
std::optional<std::string> plc_lock_owner(Session& session);

/// Prevents all sources from being read while this object exists, because the schema changes.
class NoSources {
 public:
  /// Does not wait. Throws SourceBusy with the session that holds the lock, or SqlError.
  explicit NoSources(Session& session);

 private:
  const TriedLock lock_;
};

}  // namespace skua::postgres
