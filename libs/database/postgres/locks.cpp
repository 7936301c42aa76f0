#include "postgres/locks.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "atproto/sha256.hpp"
#include "base/bytes.hpp"
#include "base/log.hpp"
#include "base/seeded_hash.hpp"
#include "base/time.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/locks.sql.hpp"
#include "postgres/sql_error.hpp"

namespace skua::postgres {

namespace {

constexpr unsigned kKindBits = 3;
constexpr std::uint64_t kHandleKind = 5;

Lock make_lock(Session& session, std::uint64_t kind, std::string_view name) {
  const std::uint64_t hash = sip_hash(session.lock_secret(), name);
  const std::uint64_t key = kind << (64 - kKindBits) | hash >> kKindBits;
  return {static_cast<std::int64_t>(key), name};
}

/// Returns the locks that other sessions hold at this moment. Call this function outside of a
/// transaction, so that no lock stays.
std::vector<Lock> busy_of(Session& session, std::span<const Lock> locks) {
  const std::vector<bool> free = try_lock_xact(session, locks);
  std::vector<Lock> busy;
  for (std::size_t i = 0; i < locks.size(); ++i) {
    if (!free[i]) busy.push_back(locks[i]);
  }
  return busy;
}

std::string busy_text(Session& session, std::span<const Lock> locks) {
  const std::vector<Lock> busy = busy_of(session, locks);
  // The lock has just been released.
  if (busy.empty()) return "a lock was not free in time";
  note_busy(session, busy);
  const auto owner = lock_owner(session, RecordLockKey{busy.front().key});
  return fmt::format("{} is locked by {}{}", busy.front().name,
                     owner.value_or("a session that has just ended"),
                     busy.size() == 1 ? "" : fmt::format(", and {} more", busy.size() - 1));
}

struct Owner {
  std::int32_t pid;
  std::optional<std::string> session;
  std::optional<std::string> address;
  std::optional<std::string> since;
};

std::optional<std::string> text_of(const std::optional<Owner>& owner) {
  if (!owner) return std::nullopt;
  std::string text = owner->session ? "'" + *owner->session + "'" : "another user's session";
  text += fmt::format(" (server process {}", owner->pid);
  if (owner->address) text += fmt::format(", from {}", *owner->address);
  if (owner->since) text += fmt::format(", since {} UTC", *owner->since);
  return text + ")";
}

constexpr std::chrono::seconds kForgetAfter{30};
constexpr std::chrono::minutes kTellEvery{1};
constexpr std::size_t kMost = 10'000;

// All processes on a database must agree on these numbers, so they never change.
constexpr std::int32_t kSources = 0x736b7501;
constexpr std::int32_t kSingle = 0x736b7502;
/// All processes that hold a source share this lock, so one query finds whether any source is
/// locked.
constexpr NamedLockKey kAnySource{kSingle, 1};
constexpr NamedLockKey kMigration{kSingle, 2};
// The numbers 3 to 6 were the locks of the change log and of consumers
// (schema/migrations/0065_log_locks.sql).
constexpr NamedLockKey kPlc{kSingle, 7};
// The number 8 is the lock of `skua nodes move` (moves/group_move.cpp).

constexpr std::chrono::minutes kSayEvery{1};

/// 31 bits are enough, because only users choose the names of sources, and there are few sources.
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
    // The statement fails only if the connection is lost, and then the lock is lost too.
    return;
  }
}

/// Runs a statement that waits for a lock. Returns false if the lock was not free within the
/// session's limit.
bool wait_for(Session& session, const Statement& statement, NamedLockKey key) {
  try {
    session.execute(statement, key.space, key.key);
    return true;
  } catch (const ServerError& error) {
    if (error.sqlstate() != kLockNotAvailable) throw;
    return false;
  }
}

/// Ends an earlier session of this process. If a connection broke only on our side, the server does
/// not know this yet, and the earlier session still holds its locks. No other session of this
/// process can hold them, because a process locks each source once.
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

Lock account_lock(Session& session, std::uint8_t record_type, std::string_view did) {
  return make_lock(session, record_type, did);
}

Lock handle_lock(Session& session, std::string_view handle) {
  return make_lock(session, kHandleKind, handle);
}

void sort_locks(std::vector<Lock>& locks) {
  std::sort(locks.begin(), locks.end(),
            [](const Lock& one, const Lock& other) { return one.key < other.key; });
  locks.erase(std::unique(locks.begin(), locks.end(),
                          [](const Lock& one, const Lock& other) { return one.key == other.key; }),
              locks.end());
}

std::vector<bool> try_lock_xact(Session& session, std::span<const Lock> locks) {
  if (locks.empty()) return {};
  return session.query<bool>(sql::lock_try, column(locks, &Lock::key));
}

void lock_xact(Session& session, std::vector<Lock> locks) {
  if (locks.empty()) return;
  sort_locks(locks);
  try {
    session.execute(sql::lock_take, column(locks, &Lock::key));
  } catch (const ServerError& error) {
    if (error.sqlstate() != kLockNotAvailable) throw;
    session.rollback();
    if (!session.connected()) throw;
    throw ServerError(busy_text(session, locks), error.sqlstate());
  }
}

void note_busy(Session& session, std::span<const Lock> locks) noexcept {
  try {
    for (const auto& one : busy_locks().seen(locks, std::chrono::steady_clock::now())) {
      const auto owner = lock_owner(session, RecordLockKey{one.lock.key});
      if (!owner) continue;
      logger("store")->warn("{} has been locked for {} by {}: its rows wait", one.lock.name,
                            duration_text(one.busy_for), *owner);
    }
  } catch (const std::exception&) {
    // The connection broke. Its next use will report this.
    return;
  }
}

std::optional<std::string> lock_owner(Session& session, RecordLockKey key) {
  return text_of(session.query_first<Owner>(sql::lock_record_owner, key.key));
}

std::optional<std::string> lock_owner(Session& session, NamedLockKey key) {
  return text_of(session.query_first<Owner>(sql::lock_named_owner, key.space, key.key));
}

TriedLock::TriedLock(Session& session, NamedLockKey key)
    : session_(session), key_(key), taken_(try_lock(session, sql::lock_try_named, key)) {}

TriedLock::~TriedLock() {
  if (taken_) unlock(session_, key_);
}

std::vector<BusyLocks::Busy> BusyLocks::seen(std::span<const Lock> locks, Time now) {
  std::vector<Busy> told;
  const std::scoped_lock guard(mutex_);
  if (entries_.size() + locks.size() > kMost) {
    boost::unordered::erase_if(
        entries_, [&](const auto& entry) { return now - entry.second.last > kForgetAfter; });
  }
  for (const Lock& lock : locks) {
    auto place = entries_.find(lock.key);
    if (place == entries_.end()) {
      if (entries_.size() >= kMost) continue;
      place = entries_.emplace(lock.key, Entry{now, now, now}).first;
    }
    Entry& entry = place->second;
    if (now - entry.last > kForgetAfter) entry = {now, now, now};
    entry.last = now;
    if (now - entry.told < kTellEvery) continue;
    entry.told = now;
    told.push_back({lock, std::chrono::duration_cast<std::chrono::seconds>(now - entry.first)});
  }
  return told;
}

BusyLocks& busy_locks() {
  static BusyLocks locks;
  return locks;
}

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

NoSources::NoSources(Session& session) : lock_(session, kAnySource) {
  if (!lock_.is_taken()) {
    throw SourceBusy(
        fmt::format("a source is being indexed into this database by {}",
                    any_source_owner(session).value_or("a session that has just ended")));
  }
}

}  // namespace skua::postgres
