#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "store/lock_owner.hpp"
#include "store/session.hpp"

namespace skua::store {

// Session advisory locks of two 32-bit numbers: a class of ours, and a number within it. Locks of
// accounts and handles cannot collide with them (store/advisory_lock.hpp).

/// Another session holds the lock of the source; the message names the session.
class SourceBusy : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Prevents a second process from reading the same source into the same database, while this object
/// and its session exist. If the session's connection breaks, the lock is lost.
class SourceLock {
 public:
  /// Waits at most `patience`: after a process is killed, its lock stays until the server notices.
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

/// The session that holds a source, for messages; nothing if it is free.
std::optional<std::string> source_owner(Session& session, std::string_view source);

/// Prevents all sources from being locked until the caller's transaction ends; others wait. For
/// work that must not run while a source is read. False: a source is locked already;
/// `any_source_owner` names one.
bool keep_sources_away_xact(Session& session);

/// A session that holds any source, for messages; nothing if all are free.
std::optional<std::string> any_source_owner(Session& session);

/// Prevents two processes from migrating one database at the same time. Waits for the other
/// process, and logs this once a minute.
class MigrationLock {
 public:
  explicit MigrationLock(Session& session);
  ~MigrationLock();
  MigrationLock(const MigrationLock&) = delete;
  MigrationLock& operator=(const MigrationLock&) = delete;

 private:
  Session& session_;
};

/// Takes the lock of the process that follows the PLC directory, until the session ends.
/// Does not wait. Call it until it is true. False: another session has it. One of this process
/// (process_name) is terminated.
bool try_plc_lock(Session& session);

/// The session that follows the PLC directory, for messages; nothing if none does.
std::optional<std::string> plc_lock_owner(Session& session);

/// Prevents all sources from being read while it exists, because the schema changes.
class NoSources {
 public:
  /// Does not wait. Throws SourceBusy, which names the session that holds the lock, or SqlError.
  explicit NoSources(Session& session);
  ~NoSources();
  NoSources(const NoSources&) = delete;
  NoSources& operator=(const NoSources&) = delete;

 private:
  Session& session_;
};

}  // namespace skua::store
