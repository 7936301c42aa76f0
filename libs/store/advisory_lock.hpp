#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "store/session.hpp"

namespace skua::store {

/// The number that stands for (record type, DID) in PostgreSQL's advisory locks: FNV-1a, 64 bits.
/// Fixed here, because all processes on a database must agree on it.
std::int64_t lock_key(std::uint8_t record_type, std::string_view did);

/// Takes the transaction's locks of `keys`, in their order, in one statement; does not wait. `keys`
/// is sorted and without doubles: that is what keeps two batches from a deadlock. True at the
/// places whose lock this transaction now holds.
std::vector<bool> try_lock_xact(Session& session, std::span<const std::int64_t> keys);

/// Takes the transaction's locks of `keys`, which may come in any order and twice, and waits for
/// each: in ascending order and in one statement, so that no two callers deadlock.
void lock_xact(Session& session, std::vector<std::int64_t> keys);

/// Another session holds the source; the message names it.
class SourceBusy : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Keeps a second process away from a source of the same database, for as long as this object and
/// its session live. If the session's connection breaks, the lock is gone.
class SourceLock {
 public:
  /// Waits at most `patience`: a process that was killed holds its lock until the server notices.
  /// Throws SourceBusy with the holder's application name, process id and start, or SqlError.
  SourceLock(Session& session, std::string_view source,
             std::chrono::milliseconds patience = std::chrono::seconds(2));
  ~SourceLock();
  SourceLock(const SourceLock&) = delete;
  SourceLock& operator=(const SourceLock&) = delete;

 private:
  Session& session_;
  const std::int64_t key_;
};

/// Who holds a source, in words; nothing when nobody does.
std::optional<std::string> source_holder(Session& session, std::string_view source);

/// Whether no source at all is held, and none will be until the caller's transaction ends: whoever
/// asks for one waits. For work that no source may run beside. False: `any_source_holder` names
/// one.
bool keep_sources_away_xact(Session& session);

/// Who holds any source, in words; nothing when nobody does.
std::optional<std::string> any_source_holder(Session& session);

/// Keeps two processes from migrating one database at once: waits for the other.
class MigrationLock {
 public:
  explicit MigrationLock(Session& session);
  ~MigrationLock();
  MigrationLock(const MigrationLock&) = delete;
  MigrationLock& operator=(const MigrationLock&) = delete;

 private:
  Session& session_;
};

}  // namespace skua::store
