#include "writer/handle_claims.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
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
                            "SELECT id, handle FROM bsky.actors WHERE id = ANY($1::int4[]) "
                            "OR handle = ANY($2::text[]) ORDER BY id FOR NO KEY UPDATE"};
const Statement kHandles{"handles_read",
                         "SELECT id, handle FROM bsky.actors WHERE id = ANY($1::int4[])"};

// A claim is looked up at once, unless the account has used up its look-ups ($4: now). The same
// claim made again keeps what was found of it, and does not bring forward a look-up that waits. A
// new claim gives the handle at once, but not from an account that has it by a look-up, claimed it
// later, or has it while this account has used up its look-ups.
const Statement kClaim{
    "handles_claim",
    "UPDATE bsky.actors AS a SET handle_time = c.time, handle_claim = c.handle, "
    "handle_valid = c.valid, handle_check_due = c.due, handle_lookups_charged_to = c.charged_to, "
    "handle = CASE WHEN c.valid IS FALSE THEN NULL "
    "WHEN c.is_repeat AND a.handle = c.handle THEN a.handle "
    "WHEN EXISTS (SELECT FROM bsky.actors AS o WHERE o.handle = c.handle AND o.id <> a.id "
    "AND (o.handle_valid OR c.due > $4::timestamptz OR (o.handle_time, o.id) > (c.time, a.id))) "
    "THEN NULL ELSE c.handle END "
    "FROM (SELECT h.id, h.handle, h.time, r.is_repeat, "
    "CASE WHEN r.is_repeat THEN b.handle_valid END AS valid, "
    "CASE WHEN h.handle IS NULL THEN NULL WHEN r.waits THEN b.handle_check_due "
    "ELSE skua.handle_lookup_due(r.charged_to, $4::timestamptz) END AS due, "
    "CASE WHEN h.handle IS NULL OR r.waits THEN b.handle_lookups_charged_to "
    "ELSE r.charged_to END AS charged_to "
    "FROM unnest($1::int4[], $2::text[], $3::timestamptz[]) AS h(id, handle, time) "
    "JOIN bsky.actors AS b ON b.id = h.id AND (b.handle_time IS NULL OR b.handle_time < h.time), "
    "LATERAL (SELECT coalesce(b.handle_claim = h.handle, false) AS is_repeat, "
    "coalesce(b.handle_claim = h.handle AND b.handle_check_due > $4::timestamptz, false) AS waits, "
    "skua.charge_handle_lookup(b.handle_lookups_charged_to, $4::timestamptz) AS charged_to) AS r"
    ") AS c WHERE a.id = c.id RETURNING a.id"};

// An account has a handle no more that another account has claimed later and was given, unless a
// look-up gave it to the former. Of two claims of one instant the higher id's counts as the later
// one.
const Statement kContest{
    "handles_contest",
    "UPDATE bsky.actors AS a SET handle = NULL, "
    "handle_check_due = least(a.handle_check_due, $2::timestamptz) "
    "FROM bsky.actors AS o WHERE o.id = ANY($1::int4[]) AND a.handle = o.handle AND a.id <> o.id "
    "AND a.handle_valid IS NOT TRUE AND (a.handle_time, a.id) < (o.handle_time, o.id)"};

const Statement kDue{
    "handles_due",
    "SELECT id, did, handle_claim, (extract(epoch FROM handle_check_due) * 1000000)::int8, "
    "(extract(epoch FROM handle_time) * 1000000)::int8 FROM ("
    "(SELECT * FROM bsky.actors WHERE handle_check_due <= $1::timestamptz "
    "AND handle_valid IS NOT FALSE ORDER BY handle_check_due LIMIT $2::int8) UNION ALL "
    "(SELECT * FROM bsky.actors WHERE handle_check_due <= $1::timestamptz "
    "AND handle_valid IS FALSE ORDER BY handle_check_due LIMIT $2::int8)) AS due "
    "ORDER BY handle_valid IS FALSE, handle_check_due LIMIT $2::int8"};

// A result counts for the look-up that was due. A refusal also counts while the same claim, made
// again meanwhile, waits for its own look-up: an account that repeats a false claim gains nothing.
// $6 is now, $5 when a look-up that failed is repeated at the earliest.
const Statement kChecked{
    "handles_checked",
    "UPDATE bsky.actors AS a SET handle_valid = coalesce(c.valid, a.handle_valid), "
    "handle_check_due = CASE WHEN a.handle_check_due > c.due THEN a.handle_check_due "
    "WHEN c.valid IS NULL THEN greatest(c.next, skua.handle_lookup_due(r.charged_to, "
    "$6::timestamptz)) END, "
    "handle_lookups_charged_to = CASE WHEN c.valid IS NULL THEN r.charged_to "
    "ELSE a.handle_lookups_charged_to END, "
    "handle = CASE WHEN c.valid THEN a.handle_claim WHEN NOT c.valid THEN NULL ELSE a.handle END "
    "FROM unnest($1::int4[], $2::text[], $3::timestamptz[], $4::boolean[], $5::timestamptz[]) "
    "AS c(id, handle, due, valid, next) JOIN bsky.actors AS b ON b.id = c.id, "
    "LATERAL (SELECT skua.charge_handle_lookup(b.handle_lookups_charged_to, $6::timestamptz) "
    "AS charged_to) AS r "
    "WHERE a.id = c.id AND a.handle_claim = c.handle AND (a.handle_check_due = c.due "
    "OR (NOT c.valid AND a.handle_check_due > c.due))"};

// After them in the same transaction: what was written as right has no other owner.
const Statement kDispossess{
    "handles_dispossess",
    "UPDATE bsky.actors AS a SET handle = NULL, handle_valid = NULL, "
    "handle_check_due = greatest($3::timestamptz, skua.handle_lookup_due("
    "skua.charge_handle_lookup(a.handle_lookups_charged_to, $4::timestamptz), $4::timestamptz)), "
    "handle_lookups_charged_to = "
    "skua.charge_handle_lookup(a.handle_lookups_charged_to, $4::timestamptz) "
    "FROM bsky.actors AS o WHERE o.id = ANY($1::int4[]) AND o.handle_valid "
    "AND o.handle = ANY($2::text[]) AND a.handle = o.handle AND a.id <> o.id"};

/// An account that loses a handle to one that is right is looked up again, but two that DNS calls
/// right in turn must not keep us busy.
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
    const Rows rows = session.execute(kLockActors, params);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      before_.emplace(rows.int4(i, 0), rows.text_or_null(i, 1));
    }
  }
  /// Reports the accounts whose handle has changed since `take`.
  void report(Session& session, Effects& effects) const {
    Array ids(Array::Type::int4);
    for (const auto& [id, handle] : before_) ids.int4(id);
    Params params;
    params.array(ids);
    const Rows rows = session.execute(kHandles, params);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::int32_t id = rows.int4(i, 0);
      if (before_.at(id) != rows.text_or_null(i, 1)) effects.handle_changed(id);
    }
  }

 private:
  Array ids_{Array::Type::int4};
  Array handles_{Array::Type::text};
  // The callers'.
  std::vector<std::string_view> names_;
  /// The handles of the locked accounts.
  std::map<std::int32_t, std::optional<std::string>> before_;
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
  params.array(ids).array(handles).timestamp(now + kContestPause).timestamp(now);
  session.execute(kDispossess, params);
}

}  // namespace

std::size_t write_handle_claims(Session& session, std::span<const HandleClaim> claims,
                                Timestamp now, Effects& effects) {
  HandleLocks locks;
  Array claimants(Array::Type::int4);
  Array handles(Array::Type::text);
  Array times(Array::Type::timestamptz);
  for (const HandleClaim& claim : claims) {
    locks.add(claim.actor_id, claim.handle);
    claimants.int4(claim.actor_id);
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
  const Rows written = session.execute(kClaim, claimed);
  if (written.empty()) return 0;
  Array ids(Array::Type::int4);
  for (std::size_t i = 0; i < written.size(); ++i) ids.int4(written.int4(i, 0));
  Params params;
  params.array(ids).timestamp(now + kContestPause);
  const std::size_t contested = session.execute(kContest, params).affected();
  locks.report(session, effects);
  return written.size() + contested;
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
  params.array(ids).array(handles).array(due).array(valid).array(next).timestamp(now);
  session.execute(kChecked, params);
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
