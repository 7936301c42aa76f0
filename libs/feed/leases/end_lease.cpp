#include "feed/leases/end_lease.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"
#include "feed/consumers/consumer_replays.hpp"
#include "feed/consumers/consumer_table.hpp"
#include "feed/consumers/lane_outcome_sql.hpp"
#include "feed/consumers/tuning_sql.hpp"
#include "feed/failure_problem.hpp"
#include "feed/leases/held_lease.hpp"
#include "feed/leases/end_lease.sql.hpp"

namespace skua::feed {
namespace {

using store::Statement;

// The columns of a lane or of waiting changes, which are tried again later.
constexpr const char* kRetryColumns =
    "attempts = $9::int4, batch = coalesce($10::int4, t.batch), error = $11::text, served_at = "
    "clock_timestamp(), retry_at = clock_timestamp() + coalesce($12::int8, "
    "least(p.retry * power(2, least(greatest($9::int4 - 1, 0), 20)), p.max_retry)) * interval '1 "
    "millisecond' FROM skua.consumers AS c ";
const Statement kRetryLane{
    "leases_retry_lane",
    std::string("UPDATE skua.consumer_lanes AS t SET cause = $13::text, ") + kLaneFailed + ", " +
        kRetryColumns + kTuningJoin +
        "WHERE c.id = $7::int4 AND t.consumer_id = c.id AND t.lane = $8::int4"};
const Statement kRetryWaiting{
    "leases_retry_waiting",
    std::string("UPDATE skua.waiting_changes AS t SET ") + kRetryColumns + kTuningJoin +
        "WHERE c.id = $7::int4 AND t.consumer_id = c.id AND t.lane = $8::int4 AND t.actor_id = "
        "$13::int4 AND t.pos = $14::int8"};
const Statement kLimits{
    "leases_limits", std::string("SELECT p.max_attempts, p.max_retry FROM skua.consumers AS c ") +
                         kTuningJoin + "WHERE c.id = $7::int4"};
const Statement kBlock{"leases_block",
                       std::string("UPDATE skua.consumer_lanes SET is_blocked = true, attempts = "
                                   "$3::int4, error = $4::text, cause = $5::text, batch = 1, ") +
                           kLaneFailed + " WHERE consumer_id = $1::int4 AND lane = $2::int4"};

const Statement kNoteUnreadable{
    "leases_note_unreadable",
    std::string("UPDATE skua.consumer_lanes SET error = $2::text, cause = 'tables', ") +
        kLaneFailed + " WHERE consumer_id = $1::int4"};

void renew(store::Session& session, const LeaseName& lease, std::chrono::milliseconds duration) {
  store::Params params;
  params.int4(lease.consumer_id).int4(lease.lane).int8(duration.count());
  session.execute(sql::leases_renew, params);
}

/// The changes are tried again. `batch`: of the next attempt; nothing: as before.
void retry_later(store::Session& session, const LeaseName& lease, const HeldLease& held,
                 std::int32_t attempts, std::optional<std::int32_t> batch,
                 const LeaseFailure& failure) {
  store::Params params;
  add_profiles(params);
  params.int4(lease.consumer_id).int4(lease.lane).int4(attempts);
  if (batch) {
    params.int4(*batch);
  } else {
    params.null();
  }
  params.text(failure.error);
  if (failure.wait) {
    params.int8(failure.wait->count());
  } else {
    params.null();
  }
  if (held.key) {
    params.int4(*held.key).int8(held.pos);
    session.execute(kRetryWaiting, params);
  } else {
    session.execute(kRetryLane, params.text(to_string(failure.cause)));
  }
}

std::int32_t account_at(store::Session& session, std::int64_t pos) {
  store::Params params;
  params.int8(pos);
  return session.execute(sql::leases_account, params).int4(0, 0);
}

void block_lane(store::Session& session, const LeaseName& lease, std::int32_t attempts,
                FailureCause cause, const std::string& error) {
  store::Params params;
  params.int4(lease.consumer_id).int4(lease.lane).int4(attempts).text(error);
  params.text(to_string(cause));
  session.execute(kBlock, params);
}

/// The first change failed for good: a waiting change is a dead letter again, whatever the policy.
void apply_policy(store::Session& session, const LeaseName& lease, const HeldLease& held,
                  std::int32_t attempts, const LeaseFailure& failure) {
  const std::int64_t pos = held.pos;
  const std::string& error = failure.error;
  logger("feed")->error("{}: the change at position {} failed too often, policy {}: {}",
                        held.consumer, pos, held.policy,
                        with_code(error, problem_of_failure(held.policy)));
  const auto letter = [&] {
    return write_skipped_change(session, held.consumer, lease.lane, pos, error);
  };
  if (held.key) {
    close_waiting(session, lease.consumer_id, lease.lane, *held.key, held.waiting,
                  letter().value_or(held.waiting.letter_id));
    return;
  }
  if (held.policy == "skip") {
    letter();
    advance_lease(session, lease, held, pos + 1);
  } else if (held.policy == "block_key") {
    const auto id = letter();
    if (id &&
        hold_changes(session, lease.consumer_id, lease.lane, account_at(session, pos), pos, *id)) {
      advance_lease(session, lease, held, pos + 1);
    } else {
      block_lane(session, lease, attempts, failure.cause,
                 error + " (too many dead letters: the lane is blocked)");
    }
  } else if (held.policy == "block_lane") {
    block_lane(session, lease, attempts, failure.cause, error);
  } else {
    retry_later(session, lease, held, attempts, 1,
                {.pos = {}, .error = error, .wait = {}, .cause = failure.cause});
    set_consumer_state(session, lease.consumer_id, "stopped",
                       fmt::format("the change at position {} failed: {}", pos, error));
  }
}

/// After the first change failed.
void count_attempt(store::Session& session, const LeaseName& lease, const HeldLease& held,
                   const LeaseFailure& failure) {
  store::Params params;
  add_profiles(params);
  params.int4(lease.consumer_id);
  const store::Rows limits = session.execute(kLimits, params);
  const std::int32_t attempts = std::min(held.attempts, 1'000'000'000) + 1;
  if (failure.is_final || attempts >= limits.int4(0, 0)) {
    apply_policy(session, lease, held, attempts, failure);
    return;
  }
  LeaseFailure later = failure;
  if (later.wait) later.wait = std::min(*later.wait, std::chrono::milliseconds(limits.int4(0, 1)));
  retry_later(session, lease, held, attempts, 1, later);
}

}  // namespace

LeaseResult acknowledge(store::Session& session, const LeaseName& lease,
                        const Acknowledgement& acknowledgement) {
  store::Transaction transaction(session);
  const auto held = lock_lease(session, lease);
  if (!held) return LeaseResult::Lost;
  // A client may send any position.
  const std::int64_t last = acknowledgement.through.value_or(held->end - 1);
  if (last >= held->end) return LeaseResult::NotOfLease;
  const std::int64_t next = last + 1;
  // Waiting changes end even if there were none. A repetition changes nothing.
  if (next > held->pos || next == held->end) advance_lease(session, lease, *held, next);
  const bool ended = acknowledgement.ends || next == held->end;
  if (ended) {
    release_lease(session, lease);
  } else {
    renew(session, lease, acknowledgement.duration);
  }
  transaction.commit();
  return ended ? LeaseResult::Ended : LeaseResult::Held;
}

LeaseResult renew_lease(store::Session& session, const LeaseName& lease,
                        std::chrono::milliseconds duration) {
  store::Transaction transaction(session);
  if (!lock_lease(session, lease)) return LeaseResult::Lost;
  renew(session, lease, duration);
  transaction.commit();
  return LeaseResult::Held;
}

LeaseResult report_failure(store::Session& session, const LeaseName& lease,
                           const LeaseFailure& failure) {
  store::Transaction transaction(session);
  auto held = lock_lease(session, lease);
  if (!held) return LeaseResult::Lost;
  const std::int64_t pos = failure.pos.value_or(held->pos);
  if (pos < held->pos || pos >= held->end) return LeaseResult::NotOfLease;
  if (pos > held->pos) {
    advance_lease(session, lease, *held, pos);
    // From here on the failed change is the first one.
    held = lock_lease(session, lease);
  }
  if (failure.is_temporary) {
    retry_later(session, lease, *held, held->attempts, std::nullopt, failure);
  } else if (failure.pos || held->count <= 1) {
    count_attempt(session, lease, *held, failure);
  } else {
    LeaseFailure at_once = failure;
    at_once.wait = failure.wait.value_or(std::chrono::milliseconds(0));
    retry_later(session, lease, *held, held->attempts, held->count / 2, at_once);
  }
  release_lease(session, lease);
  transaction.commit();
  return LeaseResult::Ended;
}

LeaseResult report_loss(store::Session& session, const LeaseName& lease, std::int64_t oldest) {
  store::Transaction transaction(session);
  const auto held = lock_lease(session, lease);
  if (!held) return LeaseResult::Lost;
  if (held->key) {
    lose_waiting(session, lease.consumer_id, lease.lane, *held->key, held->waiting, oldest);
  } else {
    set_consumer_state(session, lease.consumer_id, "lagged out",
                       fmt::format("the log does not have position {} any more", held->pos));
  }
  release_lease(session, lease);
  transaction.commit();
  return LeaseResult::Ended;
}

void note_unreadable(store::Session& session, std::int32_t consumer_id,
                     const store::SqlError& error) {
  store::Params params;
  params.int4(consumer_id).text(error.what());
  session.execute(kNoteUnreadable, params);
}

}  // namespace skua::feed
