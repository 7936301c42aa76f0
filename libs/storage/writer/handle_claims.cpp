#include "writer/handle_claims.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/account_number.hpp"
#include "postgres/locks.hpp"
#include "writer/handle_claims.sql.hpp"

namespace skua::writer {
namespace {

using postgres::column;
using postgres::Session;

/// An account that loses its handle to another one is looked up again after this time. Two accounts
/// that DNS confirms in turn then cause few look-ups.
constexpr std::chrono::minutes kContestPause{1};

struct StoredHandle {
  AccountNumber actor_id;
  std::optional<std::string> handle;
};

/// The locks that a transaction takes before it gives or takes handles, and the handles that the
/// accounts had then.
class HandleLocks {
 public:
  void add(AccountNumber actor_id, const std::string& handle) {
    ids_.push_back(actor_id);
    if (!handle.empty()) handles_.push_back(handle);
  }
  /// Takes all locks until the end of the transaction.
  void take(Session& session) {
    lock_handles(session);
    lock_actors(session);
  }
  /// Reports the accounts whose handle has changed since `take`.
  void report(Session& session, Effects& effects) const {
    for (const auto& [id, handle] :
         session.query<StoredHandle>(sql::handles_read, std::views::keys(before_))) {
      if (before_.at(id) != handle) effects.handle_changed(id);
    }
  }

 private:
  /// Makes the second of two claims of a handle wait. Without the lock, both accounts could get the
  /// handle.
  void lock_handles(Session& session) const {
    std::vector<postgres::Lock> locks;
    locks.reserve(handles_.size());
    for (const std::string_view handle : handles_) {
      locks.push_back(postgres::handle_lock(session, handle));
    }
    postgres::lock_xact(session, std::move(locks));
  }

  /// Locks the rows of the accounts that may get or lose a handle, and remembers their handles.
  void lock_actors(Session& session) {
    for (auto& [id, handle] :
         session.query<StoredHandle>(sql::handles_lock_actors, ids_, handles_)) {
      before_.emplace(id, std::move(handle));
    }
  }

  std::vector<AccountNumber> ids_;
  /// Views of the texts that were passed to `add`.
  std::vector<std::string_view> handles_;
  /// The handles of the locked accounts.
  std::map<AccountNumber, std::optional<std::string>> before_;
};

/// Takes each handle that a look-up confirmed from all accounts but the owner of the handle.
void dispossess_others(Session& session, std::span<const CheckedHandle> checked, Timestamp now) {
  std::vector<const DueHandle*> valid;
  for (const CheckedHandle& one : checked) {
    if (one.is_valid.value_or(false)) valid.push_back(&one.claim);
  }
  if (valid.empty()) return;
  session.execute(sql::handles_dispossess, column(valid, &DueHandle::actor_id),
                  column(valid, &DueHandle::handle), now + kContestPause, now);
}

}  // namespace

std::size_t write_handle_claims(Session& session, std::span<const HandleClaim> claims,
                                Timestamp now, Effects& effects) {
  HandleLocks locks;
  for (const HandleClaim& claim : claims) locks.add(claim.actor_id, claim.handle);
  locks.take(session);
  const auto handle = [](const HandleClaim& claim) -> std::optional<std::string_view> {
    if (claim.handle.empty()) return std::nullopt;
    return claim.handle;
  };
  const auto written =
      session.query<AccountNumber>(sql::handles_claim, column(claims, &HandleClaim::actor_id),
                                   column(claims, handle), column(claims, &HandleClaim::time), now);
  if (written.empty()) return 0;
  const std::size_t contested =
      session.execute(sql::handles_contest, written, now + kContestPause).affected();
  locks.report(session, effects);
  return written.size() + contested;
}

std::vector<DueHandle> due_handles(Session& session, Timestamp now, std::size_t limit) {
  return session.query<DueHandle>(sql::handles_due, now, limit);
}

void write_checked_handles(Session& session, std::span<const CheckedHandle> checked,
                           Timestamp now) {
  HandleLocks locks;
  for (const CheckedHandle& one : checked) locks.add(one.claim.actor_id, one.claim.handle);
  const auto next = [&](const CheckedHandle& one) -> std::optional<Timestamp> {
    if (one.is_valid) return std::nullopt;
    return now + handle_check_delay(one.claim.claimed_at, now);
  };
  postgres::Transaction transaction(session);
  locks.take(session);
  const auto claims = std::views::transform(checked, &CheckedHandle::claim);
  session.execute(sql::handles_checked, column(claims, &DueHandle::actor_id),
                  column(claims, &DueHandle::handle), column(claims, &DueHandle::due),
                  column(checked, &CheckedHandle::is_valid), column(checked, next), now);
  dispossess_others(session, checked, now);
  Effects effects;
  locks.report(session, effects);
  effects.finish(session);
  transaction.commit();
}

std::chrono::microseconds handle_check_delay(Timestamp claimed_at, Timestamp now) {
  using std::chrono::microseconds;
  return std::clamp<microseconds>(2 * (now - claimed_at), std::chrono::minutes(1),
                                  std::chrono::hours(24));
}

}  // namespace skua::writer
