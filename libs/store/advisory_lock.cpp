#include "store/advisory_lock.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/sip_hash.hpp"
#include "base/time.hpp"
#include "store/advisory_lock.sql.hpp"
#include "store/busy_locks.hpp"
#include "store/lock_owner.hpp"
#include "store/sqlstate.hpp"

namespace skua::store {
namespace {

constexpr unsigned kKindBits = 3;
constexpr std::uint64_t kHandleKind = 5;

Lock make_lock(Session& session, std::uint64_t kind, std::string_view name) {
  const std::uint64_t hash = sip_hash(session.lock_secret(), name);
  const std::uint64_t key = kind << (64 - kKindBits) | hash >> kKindBits;
  return {static_cast<std::int64_t>(key), name};
}

/// The locks that other sessions hold at this moment. Call it outside a transaction, so that it
/// keeps no lock.
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
  // It has just been released.
  if (busy.empty()) return "a lock was not free in time";
  note_busy(session, busy);
  const auto owner = lock_owner(session, RecordLockKey{busy.front().key});
  return fmt::format("{} is locked by {}{}", busy.front().name,
                     owner.value_or("a session that has just ended"),
                     busy.size() == 1 ? "" : fmt::format(", and {} more", busy.size() - 1));
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
    // The connection broke; its next use will report this.
    return;
  }
}

}  // namespace skua::store
