#include "writer/handle_claims.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/account_number.hpp"
#include "store/advisory_lock.hpp"
#include "writer/handle_claims.sql.hpp"

namespace skua::writer {
namespace {

using store::Array;
using store::Params;
using store::Rows;
using store::Session;

/// An account that loses a handle to one that is right is looked up again, but two that DNS calls
/// right in turn must not keep us busy.
constexpr std::chrono::minutes kContestPause{1};

/// What a transaction that gives or takes handles locks first.
class HandleLocks {
 public:
  void add(AccountNumber actor_id, const std::string& handle) {
    ids_.int8(actor_id);
    if (handle.empty()) return;
    handles_.text(handle);
    names_.push_back(handle);
  }
  void take(Session& session) {
    // Two claims of one handle that do not see each other would both keep it: the second waits.
    std::vector<store::Lock> locks;
    locks.reserve(names_.size());
    for (const std::string_view name : names_) locks.push_back(store::handle_lock(session, name));
    store::lock_xact(session, std::move(locks));
    Params params;
    params.array(ids_).array(handles_);
    const Rows rows = session.execute(sql::handles_lock_actors, params);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      before_.emplace(rows.int8(i, 0), rows.text_or_null(i, 1));
    }
  }
  /// Reports the accounts whose handle has changed since `take`.
  void report(Session& session, Effects& effects) const {
    Array ids(Array::Type::int8);
    for (const auto& [id, handle] : before_) ids.int8(id);
    Params params;
    params.array(ids);
    const Rows rows = session.execute(sql::handles_read, params);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const AccountNumber id = rows.int8(i, 0);
      if (before_.at(id) != rows.text_or_null(i, 1)) effects.handle_changed(id);
    }
  }

 private:
  Array ids_{Array::Type::int8};
  Array handles_{Array::Type::text};
  // The callers'.
  std::vector<std::string_view> names_;
  /// The handles of the locked accounts.
  std::map<AccountNumber, std::optional<std::string>> before_;
};

Timestamp timestamp_of(std::int64_t microseconds) {
  return Timestamp(std::chrono::microseconds(microseconds));
}

/// Gives a handle that was seen to be right to its owner alone.
void dispossess_others(Session& session, std::span<const CheckedHandle> checked, Timestamp now) {
  Array ids(Array::Type::int8);
  Array handles(Array::Type::text);
  bool any = false;
  for (const CheckedHandle& one : checked) {
    if (!one.is_valid.value_or(false)) continue;
    ids.int8(one.claim.actor_id);
    handles.text(one.claim.handle);
    any = true;
  }
  if (!any) return;
  Params params;
  params.array(ids).array(handles).timestamp(now + kContestPause).timestamp(now);
  session.execute(sql::handles_dispossess, params);
}

}  // namespace

std::size_t write_handle_claims(Session& session, std::span<const HandleClaim> claims,
                                Timestamp now, Effects& effects) {
  HandleLocks locks;
  Array claimants(Array::Type::int8);
  Array handles(Array::Type::text);
  Array times(Array::Type::timestamptz);
  for (const HandleClaim& claim : claims) {
    locks.add(claim.actor_id, claim.handle);
    claimants.int8(claim.actor_id);
    if (claim.handle.empty()) {
      handles.null();
    } else {
      handles.text(claim.handle);
    }
    times.timestamp(claim.time);
  }
  locks.take(session);
  Params claimed;
  claimed.array(claimants).array(handles).array(times).timestamp(now);
  const Rows written = session.execute(sql::handles_claim, claimed);
  if (written.empty()) return 0;
  Array ids(Array::Type::int8);
  for (std::size_t i = 0; i < written.size(); ++i) ids.int8(written.int8(i, 0));
  Params params;
  params.array(ids).timestamp(now + kContestPause);
  const std::size_t contested = session.execute(sql::handles_contest, params).affected();
  locks.report(session, effects);
  return written.size() + contested;
}

std::vector<DueHandle> due_handles(Session& session, Timestamp now, std::size_t limit) {
  Params params;
  params.timestamp(now).int8(static_cast<std::int64_t>(limit));
  const Rows rows = session.execute(sql::handles_due, params);
  std::vector<DueHandle> due;
  due.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    due.push_back({.actor_id = rows.int8(i, 0),
                   .did = std::string(rows.text(i, 1)),
                   .handle = std::string(rows.text(i, 2)),
                   .due = timestamp_of(rows.int8(i, 3)),
                   .claimed_at = timestamp_of(rows.int8(i, 4))});
  }
  return due;
}

void write_checked_handles(Session& session, std::span<const CheckedHandle> checked,
                           Timestamp now) {
  HandleLocks locks;
  Array ids(Array::Type::int8);
  Array handles(Array::Type::text);
  Array due(Array::Type::timestamptz);
  Array valid(Array::Type::boolean);
  Array next(Array::Type::timestamptz);
  for (const CheckedHandle& one : checked) {
    locks.add(one.claim.actor_id, one.claim.handle);
    ids.int8(one.claim.actor_id);
    handles.text(one.claim.handle);
    due.timestamp(one.claim.due);
    if (one.is_valid) {
      valid.boolean(*one.is_valid);
      next.null();
    } else {
      valid.null();
      next.timestamp(now + handle_check_delay(one.claim.claimed_at, now));
    }
  }
  store::Transaction transaction(session);
  locks.take(session);
  Params params;
  params.array(ids).array(handles).array(due).array(valid).array(next).timestamp(now);
  session.execute(sql::handles_checked, params);
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
