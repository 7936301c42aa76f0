#include "writer/handle_claims.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "store/advisory_lock.hpp"

namespace skua::writer {
namespace {

using store::Array;
using store::Params;
using store::Rows;
using store::Session;
using store::Statement;

// Those that are written, and those that may lose a handle to them, before any is changed: who
// takes rows in one order meets no deadlock.
const Statement kLockActors{"handles_lock_actors",
                            "SELECT FROM bsky.actors WHERE id = ANY($1::int4[]) "
                            "OR handle = ANY($2::text[]) ORDER BY id FOR NO KEY UPDATE"};

// A claim is due at once. $4 is now: it tells this claim from one made before.
const Statement kClaim{
    "handles_claim",
    "UPDATE bsky.actors AS a SET handle_time = h.time, handle_claim = h.handle, "
    "handle_valid = NULL, handle_check_due = CASE WHEN h.handle IS NOT NULL THEN $4::timestamptz "
    "END, handle = CASE WHEN EXISTS ("
    "SELECT FROM bsky.actors AS o WHERE o.handle = h.handle AND o.id <> a.id "
    "AND (o.handle_time, o.id) > (h.time, a.id)) THEN NULL ELSE h.handle END "
    "FROM unnest($1::int4[], $2::text[], $3::timestamptz[]) AS h(id, handle, time) "
    "WHERE a.id = h.id AND (a.handle_time IS NULL OR a.handle_time < h.time) RETURNING a.id"};

// Whoever had a handle that somebody else claimed later has none until it is looked up again. Of
// two claims of one instant the higher id's counts as the later one. Claims that were not written
// contest nothing: they were made before, or taken back already.
const Statement kContest{
    "handles_contest",
    "UPDATE bsky.actors AS a SET handle = NULL, handle_valid = NULL, "
    "handle_check_due = $4::timestamptz "
    "FROM unnest($1::int4[], $2::text[], $3::timestamptz[]) AS h(id, handle, time) "
    "WHERE a.handle = h.handle AND a.id <> h.id AND (a.handle_time, a.id) < (h.time, h.id)"};

const Statement kDue{"handles_due",
                     "SELECT id, did, handle_claim, "
                     "(extract(epoch FROM handle_check_due) * 1000000)::int8, "
                     "(extract(epoch FROM handle_time) * 1000000)::int8 "
                     "FROM bsky.actors WHERE handle_check_due <= $1::timestamptz "
                     "ORDER BY handle_check_due LIMIT $2::int8"};

const Statement kChecked{
    "handles_checked",
    "UPDATE bsky.actors AS a SET handle_valid = c.valid, handle_check_due = c.next, "
    "handle = CASE WHEN c.valid THEN a.handle_claim WHEN NOT c.valid THEN NULL ELSE a.handle END "
    "FROM unnest($1::int4[], $2::text[], $3::timestamptz[], $4::boolean[], $5::timestamptz[]) "
    "AS c(id, handle, due, valid, next) "
    "WHERE a.id = c.id AND a.handle_claim = c.handle AND a.handle_check_due = c.due"};

// After them in the same transaction: what was written as right has no other owner.
const Statement kDispossess{
    "handles_dispossess",
    "UPDATE bsky.actors AS a SET handle = NULL, handle_valid = NULL, "
    "handle_check_due = $3::timestamptz "
    "FROM bsky.actors AS o WHERE o.id = ANY($1::int4[]) AND o.handle_valid "
    "AND o.handle = ANY($2::text[]) AND a.handle = o.handle AND a.id <> o.id"};

/// Who loses a handle to one that is right is looked up again, but two that DNS calls right in turn
/// must not keep us busy.
constexpr std::chrono::minutes kContestPause{1};

/// What a transaction that gives or takes handles locks first.
class HandleLocks {
 public:
  void add(std::int32_t actor_id, const std::string& handle) {
    ids_.int4(actor_id);
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
    session.execute(kLockActors, params);
  }

 private:
  Array ids_{Array::Type::int4};
  Array handles_{Array::Type::text};
  // The callers'.
  std::vector<std::string_view> names_;
};

/// Claims as the statements take them.
class ClaimArrays {
 public:
  void add(const HandleClaim& claim) {
    ids_.int4(claim.actor_id);
    if (claim.handle.empty()) {
      handles_.null();
    } else {
      handles_.text(claim.handle);
    }
    times_.timestamp(claim.time);
  }
  Params params(Timestamp now) const {
    Params params;
    params.array(ids_).array(handles_).array(times_).timestamp(now);
    return params;
  }

 private:
  Array ids_{Array::Type::int4};
  Array handles_{Array::Type::text};
  Array times_{Array::Type::timestamptz};
};

Timestamp timestamp_of(std::int64_t microseconds) {
  return Timestamp(std::chrono::microseconds(microseconds));
}

/// Gives a handle that was seen to be right to its owner alone.
void dispossess_others(Session& session, std::span<const CheckedHandle> checked, Timestamp now) {
  Array ids(Array::Type::int4);
  Array handles(Array::Type::text);
  bool any = false;
  for (const CheckedHandle& one : checked) {
    if (!one.is_valid.value_or(false)) continue;
    ids.int4(one.claim.actor_id);
    handles.text(one.claim.handle);
    any = true;
  }
  if (!any) return;
  Params params;
  params.array(ids).array(handles).timestamp(now + kContestPause);
  session.execute(kDispossess, params);
}

}  // namespace

std::size_t write_handle_claims(Session& session, std::span<const HandleClaim> claims,
                                Timestamp now) {
  HandleLocks locks;
  ClaimArrays all;
  for (const HandleClaim& claim : claims) {
    locks.add(claim.actor_id, claim.handle);
    all.add(claim);
  }
  locks.take(session);
  const Rows written = session.execute(kClaim, all.params(now));
  if (written.empty()) return 0;
  std::set<std::int32_t> ids;
  for (std::size_t i = 0; i < written.size(); ++i) ids.insert(written.int4(i, 0));
  ClaimArrays contests;
  for (const HandleClaim& claim : claims) {
    if (ids.contains(claim.actor_id)) contests.add(claim);
  }
  return ids.size() + session.execute(kContest, contests.params(now)).affected();
}

std::vector<DueHandle> due_handles(Session& session, Timestamp now, std::size_t limit) {
  Params params;
  params.timestamp(now).int8(static_cast<std::int64_t>(limit));
  const Rows rows = session.execute(kDue, params);
  std::vector<DueHandle> due;
  due.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    due.push_back({.actor_id = rows.int4(i, 0),
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
  Array ids(Array::Type::int4);
  Array handles(Array::Type::text);
  Array due(Array::Type::timestamptz);
  Array valid(Array::Type::boolean);
  Array next(Array::Type::timestamptz);
  for (const CheckedHandle& one : checked) {
    locks.add(one.claim.actor_id, one.claim.handle);
    ids.int4(one.claim.actor_id);
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
  params.array(ids).array(handles).array(due).array(valid).array(next);
  session.execute(kChecked, params);
  dispossess_others(session, checked, now);
  transaction.commit();
}

std::chrono::microseconds handle_check_delay(Timestamp claimed_at, Timestamp now) {
  using std::chrono::microseconds;
  return std::clamp<microseconds>(2 * (now - claimed_at), std::chrono::minutes(1),
                                  std::chrono::hours(24));
}

}  // namespace skua::writer
