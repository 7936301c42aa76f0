#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "store/lock_holder.hpp"
#include "store/session.hpp"

namespace skua::store {

// Session advisory locks of two 32-bit numbers: a class of ours, and a number in it. No account and
// no handle can meet them (store/advisory_lock.hpp).

/// Another session holds the source; the message names it.
class SourceBusy : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Keeps a second process away from a source of the same database, for as long as this object and
/// its session live. If the session's connection breaks, the lock is gone.
class SourceLock {
 public:
  /// Waits at most `patience`: a process that was killed holds its lock until the server notices. A
  /// former session of this process (process_name) that still holds it is ended.
  /// Throws SourceBusy with the holder's application name, process id and start, or SqlError.
  SourceLock(Session& session, std::string_view source,
             std::chrono::milliseconds patience = std::chrono::seconds(2));
  ~SourceLock();
  SourceLock(const SourceLock&) = delete;
  SourceLock& operator=(const SourceLock&) = delete;

 private:
  Session& session_;
  const NamedLockKey key_;
};

/// Who holds a source, in words; nothing when nobody does.
std::optional<std::string> source_holder(Session& session, std::string_view source);

/// Whether no source is locked. If true, no source can be locked until the caller's transaction
/// ends; others wait. For work that must not run at the same time as a source. False:
/// `any_source_holder` names one.
bool keep_sources_away_xact(Session& session);

/// Who holds any source, in words; nothing when nobody does.
std::optional<std::string> any_source_holder(Session& session);

/// Keeps two processes from migrating one database at once: waits for the other, and says so in the
/// log once a minute.
class MigrationLock {
 public:
  explicit MigrationLock(Session& session);
  ~MigrationLock();
  MigrationLock(const MigrationLock&) = delete;
  MigrationLock& operator=(const MigrationLock&) = delete;

 private:
  Session& session_;
};

/// Keeps all sources away for as long as it lives: none may be indexed while the schema changes.
class NoSources {
 public:
  /// Does not wait. Throws SourceBusy, naming the holder, or SqlError.
  explicit NoSources(Session& session);
  ~NoSources();
  NoSources(const NoSources&) = delete;
  NoSources& operator=(const NoSources&) = delete;

 private:
  Session& session_;
};

}  // namespace skua::store
