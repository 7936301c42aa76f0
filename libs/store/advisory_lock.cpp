#include "store/advisory_lock.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace skua::store {
namespace {

constexpr std::uint64_t kFnvOffset = 14695981039346656037U;
constexpr std::uint64_t kFnvPrime = 1099511628211U;

std::uint64_t fnv1a(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return hash;
}

/// The first byte of what is hashed tells the kinds of lock apart: 0 to 4 are the record types.
constexpr std::uint8_t kSource = 0x80;
constexpr std::uint8_t kMigration = 0x81;
/// Shared by all that hold a source, so that there is one to ask for.
constexpr std::uint8_t kAnySource = 0x82;

const Statement kTryLock{"lock_try",
                         "SELECT pg_try_advisory_xact_lock(k) FROM unnest($1::int8[]) AS k"};
const Statement kLockTransaction{"lock_take",
                                 "SELECT pg_advisory_xact_lock(k) FROM unnest($1::int8[]) AS k"};
const Statement kTrySession{"lock_try_session", "SELECT pg_try_advisory_lock($1::int8)"};
const Statement kLockSession{"lock_session", "SELECT pg_advisory_lock($1::int8)"};
const Statement kUnlockSession{"unlock_session", "SELECT pg_advisory_unlock($1::int8)"};
const Statement kShareSession{"lock_share_session", "SELECT pg_advisory_lock_shared($1::int8)"};
const Statement kUnshareSession{"unlock_share_session",
                                "SELECT pg_advisory_unlock_shared($1::int8)"};
// An advisory lock of one 64-bit key shows its halves; objsubid 1 says that they belong together.
const Statement kHolder{
    "lock_holder",
    "SELECT l.pid, a.application_name, a.client_addr::text, to_char(a.backend_start, "
    "'YYYY-MM-DD HH24:MI:SS') "
    "FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid "
    "WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 "
    "AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    "AND (l.classid::int8 << 32 | l.objid::int8) = $1::int8"};

Params one_key(std::int64_t key) {
  Params params;
  params.int8(key);
  return params;
}

Params key_array(std::span<const std::int64_t> keys) {
  Array array(Array::Type::int8);
  for (const std::int64_t key : keys) array.int8(key);
  Params params;
  params.array(array);
  return params;
}

void unlock(Session& session, std::int64_t key,
            const Statement& statement = kUnlockSession) noexcept {
  if (!session.connected()) return;
  try {
    session.execute(statement, one_key(key));
  } catch (const std::exception&) {
    // Then the connection is gone, and the lock with it.
    return;
  }
}

std::optional<std::string> holder_of(Session& session, std::int64_t key) {
  const Rows rows = session.execute(kHolder, one_key(key));
  if (rows.empty()) return std::nullopt;
  std::string name = "another user's session";
  if (!rows.is_null(0, 1)) name = "'" + std::string(rows.text(0, 1)) + "'";
  std::string text = fmt::format("{} (server process {}", name, rows.text(0, 0));
  if (!rows.is_null(0, 2)) text += fmt::format(", from {}", rows.text(0, 2));
  if (!rows.is_null(0, 3)) text += fmt::format(", since {} UTC", rows.text(0, 3));
  return text + ")";
}

bool try_source(Session& session, std::int64_t key, std::chrono::milliseconds patience) {
  if (session.execute(kTrySession, one_key(key)).boolean(0, 0)) return true;
  if (patience.count() <= 0) return false;
  session.run(fmt::format("SET lock_timeout = {}", patience.count()));
  bool taken = true;
  try {
    session.execute(kLockSession, one_key(key));
  } catch (const ServerError& e) {
    if (e.sqlstate() != "55P03") throw;  // any other than: it took too long
    taken = false;
  }
  session.run("RESET lock_timeout");
  return taken;
}

}  // namespace

std::int64_t lock_key(std::uint8_t record_type, std::string_view did) {
  const char first = static_cast<char>(record_type);
  return static_cast<std::int64_t>(fnv1a(fnv1a(kFnvOffset, {&first, 1}), did));
}

std::vector<bool> try_lock_xact(Session& session, std::span<const std::int64_t> keys) {
  std::vector<bool> taken(keys.size());
  if (keys.empty()) return taken;
  const Rows rows = session.execute(kTryLock, key_array(keys));
  for (std::size_t i = 0; i < keys.size(); ++i) taken[i] = rows.boolean(i, 0);
  return taken;
}

void lock_xact(Session& session, std::vector<std::int64_t> keys) {
  if (keys.empty()) return;
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  session.execute(kLockTransaction, key_array(keys));
}

SourceLock::SourceLock(Session& session, std::string_view source,
                       std::chrono::milliseconds patience)
    : session_(session), key_(lock_key(kSource, source)) {
  if (!try_source(session_, key_, patience)) {
    throw SourceBusy(
        fmt::format("source {} is already being indexed into this database by {}", source,
                    holder_of(session_, key_)
                        .value_or("another session, which has ended meanwhile: try again")));
  }
  try {
    session_.execute(kShareSession, one_key(lock_key(kAnySource, "")));
  } catch (...) {
    unlock(session_, key_);
    throw;
  }
}

SourceLock::~SourceLock() {
  unlock(session_, lock_key(kAnySource, ""), kUnshareSession);
  unlock(session_, key_);
}

std::optional<std::string> source_holder(Session& session, std::string_view source) {
  return holder_of(session, lock_key(kSource, source));
}

bool keep_sources_away_xact(Session& session) {
  const std::int64_t key = lock_key(kAnySource, "");
  return try_lock_xact(session, {&key, 1}).front();
}

std::optional<std::string> any_source_holder(Session& session) {
  return holder_of(session, lock_key(kAnySource, ""));
}

MigrationLock::MigrationLock(Session& session) : session_(session) {
  session_.execute(kLockSession, one_key(lock_key(kMigration, "")));
}

MigrationLock::~MigrationLock() {
  unlock(session_, lock_key(kMigration, ""));
}

}  // namespace skua::store
