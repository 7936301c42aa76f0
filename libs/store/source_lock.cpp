#include "store/source_lock.hpp"

#include <fmt/format.h>

#include "atproto/sha256.hpp"
#include "base/bytes.hpp"
#include "base/log.hpp"
#include "store/process_name.hpp"
#include "store/source_lock.sql.hpp"
#include "store/sqlstate.hpp"

namespace skua::store {
namespace {

// Constant, because all processes on a database must agree on them.
constexpr std::int32_t kSources = 0x736b7501;
constexpr std::int32_t kSingle = 0x736b7502;
/// All processes that hold a source share this lock, so one query is enough.
constexpr NamedLockKey kAnySource{kSingle, 1};
constexpr NamedLockKey kMigration{kSingle, 2};
// 3 to 6 were the locks of the change log and of consumers (schema/migrations/0065_log_locks.sql).
constexpr NamedLockKey kPlc{kSingle, 7};

constexpr std::chrono::minutes kSayEvery{1};

/// Users choose the names of sources, and there are few: 31 bits distinguish them.
NamedLockKey key_of(std::string_view source) {
  const atproto::Digest digest = atproto::sha256(as_bytes(source));
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) number = number << 8U | digest[i];
  return {kSources, static_cast<std::int32_t>(number >> 1U)};
}

bool try_lock(Session& session, const Statement& statement, NamedLockKey key) {
  return session.query_one<bool>(statement, key.space, key.key);
}

void unlock(Session& session, NamedLockKey key,
            const Statement& statement = sql::unlock_named) noexcept {
  if (!session.connected()) return;
  try {
    session.execute(statement, key.space, key.key);
  } catch (const std::exception&) {
    // Then the connection is lost, and the lock with it.
    return;
  }
}

/// Runs a statement that waits for a lock. False: the lock was not free within the session's limit.
bool wait_for(Session& session, const Statement& statement, NamedLockKey key) {
  try {
    session.execute(statement, key.space, key.key);
    return true;
  } catch (const ServerError& error) {
    if (error.sqlstate() != kLockNotAvailable) throw;
    return false;
  }
}

/// If a connection broke only on our side, the server does not know yet, and the old session still
/// holds the locks of this process. A process locks each source once.
void end_former_session(Session& session, NamedLockKey key, std::string_view what) {
  if (session.execute(sql::lock_end_former, key.space, key.key, process_token()).empty()) return;
  logger("store")->warn("a former connection of this process still held {}: it was terminated",
                        what);
}

bool try_source(Session& session, NamedLockKey key, std::chrono::milliseconds patience) {
  if (try_lock(session, sql::lock_try_named, key)) return true;
  if (patience.count() <= 0) return false;
  end_former_session(session, key, "the source");
  session.limit_lock_waits(patience);
  const bool taken = wait_for(session, sql::lock_named, key);
  session.limit_lock_waits(kLockPatience);
  return taken;
}

}  // namespace

SourceLock::SourceLock(Session& session, std::string_view source,
                       std::chrono::milliseconds patience)
    : session_(session), key_(key_of(source)) {
  if (!try_source(session_, key_, patience)) {
    throw SourceBusy(
        fmt::format("source {} is already being indexed into this database by {}", source,
                    lock_owner(session_, key_)
                        .value_or("another session, which has ended meanwhile: try again")));
  }
  try {
    session_.execute(sql::lock_share_named, kAnySource.space, kAnySource.key);
  } catch (...) {
    unlock(session_, key_);
    throw;
  }
}

SourceLock::~SourceLock() {
  unlock(session_, kAnySource, sql::unlock_share_named);
  unlock(session_, key_);
}

std::optional<std::string> source_owner(Session& session, std::string_view source) {
  return lock_owner(session, key_of(source));
}

bool keep_sources_away_xact(Session& session) {
  return try_lock(session, sql::lock_try_named_xact, kAnySource);
}

std::optional<std::string> any_source_owner(Session& session) {
  return lock_owner(session, kAnySource);
}

MigrationLock::MigrationLock(Session& session) : session_(session) {
  auto say_at = std::chrono::steady_clock::now() + kSayEvery;
  while (!wait_for(session_, sql::lock_named, kMigration)) {
    if (std::chrono::steady_clock::now() < say_at) continue;
    say_at += kSayEvery;
    logger("store")->warn("waiting for another process that migrates this database: {}",
                          lock_owner(session_, kMigration).value_or("it has just ended"));
  }
}

MigrationLock::~MigrationLock() {
  unlock(session_, kMigration);
}

bool try_plc_lock(Session& session) {
  if (try_lock(session, sql::lock_try_named, kPlc)) return true;
  end_former_session(session, kPlc, "the lock of the PLC directory");
  return false;
}

std::optional<std::string> plc_lock_owner(Session& session) {
  return lock_owner(session, kPlc);
}

NoSources::NoSources(Session& session) : session_(session) {
  if (!try_lock(session_, sql::lock_try_named, kAnySource)) {
    throw SourceBusy(
        fmt::format("a source is being indexed into this database by {}",
                    any_source_owner(session_).value_or("a session that has just ended")));
  }
}

NoSources::~NoSources() {
  unlock(session_, kAnySource);
}

}  // namespace skua::store
