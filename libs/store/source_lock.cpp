#include "store/source_lock.hpp"

#include <fmt/format.h>

#include "atproto/sha256.hpp"
#include "base/bytes.hpp"
#include "base/log.hpp"
#include "store/process_name.hpp"
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

const Statement kTryNamed{"lock_try_named", "SELECT pg_try_advisory_lock($1::int4, $2::int4)"};
const Statement kTryNamedXact{"lock_try_named_xact",
                              "SELECT pg_try_advisory_xact_lock($1::int4, $2::int4)"};
const Statement kLockNamed{"lock_named", "SELECT pg_advisory_lock($1::int4, $2::int4)"};
const Statement kUnlockNamed{"unlock_named", "SELECT pg_advisory_unlock($1::int4, $2::int4)"};
const Statement kShareNamed{"lock_share_named",
                            "SELECT pg_advisory_lock_shared($1::int4, $2::int4)"};
const Statement kUnshareNamed{"unlock_share_named",
                              "SELECT pg_advisory_unlock_shared($1::int4, $2::int4)"};

/// Users choose the names of sources, and there are few: 31 bits distinguish them.
NamedLockKey key_of(std::string_view source) {
  const atproto::Digest digest = atproto::sha256(as_bytes(source));
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) number = number << 8U | digest[i];
  return {kSources, static_cast<std::int32_t>(number >> 1U)};
}

Params params_of(NamedLockKey key) {
  Params params;
  params.int4(key.space).int4(key.key);
  return params;
}

void unlock(Session& session, NamedLockKey key,
            const Statement& statement = kUnlockNamed) noexcept {
  if (!session.connected()) return;
  try {
    session.execute(statement, params_of(key));
  } catch (const std::exception&) {
    // Then the connection is lost, and the lock with it.
    return;
  }
}

/// Runs a statement that waits for a lock. False: the lock was not free within the session's limit.
bool wait_for(Session& session, const Statement& statement, NamedLockKey key) {
  try {
    session.execute(statement, params_of(key));
    return true;
  } catch (const ServerError& error) {
    if (error.sqlstate() != kLockNotAvailable) throw;
    return false;
  }
}

// The name of a session of this process ends with its token, which is unique (process_name).
const Statement kEndFormer{
    "lock_end_former",
    "SELECT pg_terminate_backend(l.pid) FROM pg_locks AS l "
    "JOIN pg_stat_activity AS a ON a.pid = l.pid "
    "WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 "
    "AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    "AND l.classid::int8 = $1::int4 AND l.objid::int8 = $2::int4 AND l.pid <> pg_backend_pid() "
    "AND a.usename = current_user AND right(a.application_name, length($3)) = $3"};

/// If a connection broke only on our side, the server does not know yet, and the old session still
/// holds the locks of this process. A process locks each source once.
void end_former_session(Session& session, NamedLockKey key, std::string_view what) {
  Params params = params_of(key);
  params.text(process_token());
  if (session.execute(kEndFormer, params).empty()) return;
  logger("store")->warn("a former connection of this process still held {}: it was terminated",
                        what);
}

bool try_source(Session& session, NamedLockKey key, std::chrono::milliseconds patience) {
  if (session.execute(kTryNamed, params_of(key)).boolean(0, 0)) return true;
  if (patience.count() <= 0) return false;
  end_former_session(session, key, "the source");
  session.limit_lock_waits(patience);
  const bool taken = wait_for(session, kLockNamed, key);
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
    session_.execute(kShareNamed, params_of(kAnySource));
  } catch (...) {
    unlock(session_, key_);
    throw;
  }
}

SourceLock::~SourceLock() {
  unlock(session_, kAnySource, kUnshareNamed);
  unlock(session_, key_);
}

std::optional<std::string> source_owner(Session& session, std::string_view source) {
  return lock_owner(session, key_of(source));
}

bool keep_sources_away_xact(Session& session) {
  return session.execute(kTryNamedXact, params_of(kAnySource)).boolean(0, 0);
}

std::optional<std::string> any_source_owner(Session& session) {
  return lock_owner(session, kAnySource);
}

MigrationLock::MigrationLock(Session& session) : session_(session) {
  auto say_at = std::chrono::steady_clock::now() + kSayEvery;
  while (!wait_for(session_, kLockNamed, kMigration)) {
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
  if (session.execute(kTryNamed, params_of(kPlc)).boolean(0, 0)) return true;
  end_former_session(session, kPlc, "the lock of the PLC directory");
  return false;
}

std::optional<std::string> plc_lock_owner(Session& session) {
  return lock_owner(session, kPlc);
}

NoSources::NoSources(Session& session) : session_(session) {
  if (!session_.execute(kTryNamed, params_of(kAnySource)).boolean(0, 0)) {
    throw SourceBusy(
        fmt::format("a source is being indexed into this database by {}",
                    any_source_owner(session_).value_or("a session that has just ended")));
  }
}

NoSources::~NoSources() {
  unlock(session_, kAnySource);
}

}  // namespace skua::store
