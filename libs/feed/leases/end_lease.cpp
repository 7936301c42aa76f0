#include "feed/leases/end_lease.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"
#include "feed/consumers/consumer_replays.hpp"
#include "feed/consumers/consumer_table.hpp"
#include "feed/consumers/tuned_query.hpp"
#include "feed/failure_problem.hpp"
#include "feed/leases/end_lease.sql.hpp"
#include "feed/leases/held_lease.hpp"

namespace skua::feed {
namespace {

void renew(store::Session& session, const LeaseName& lease, std::chrono::milliseconds duration) {
  session.execute(sql::leases_renew, lease.consumer_id, lease.lane, duration);
}

/// The changes are tried again. `batch`: of the next attempt; nothing: as before.
void retry_later(store::Session& session, const LeaseName& lease, const HeldLease& held,
                 std::int32_t attempts, std::optional<std::int32_t> batch,
                 const LeaseFailure& failure) {
  if (held.key) {
    execute_tuned(session, sql::leases_retry_waiting, lease.consumer_id, lease.lane, attempts,
                  batch, failure.error, failure.wait, *held.key, held.pos);
  } else {
    execute_tuned(session, sql::leases_retry_lane, lease.consumer_id, lease.lane, attempts, batch,
                  failure.error, failure.wait, to_string(failure.cause));
  }
}

AccountNumber account_at(store::Session& session, std::int64_t pos) {
  return session.query_one<AccountNumber>(sql::leases_account, pos);
}

void block_lane(store::Session& session, const LeaseName& lease, std::int32_t attempts,
                FailureCause cause, const std::string& error) {
  session.execute(sql::leases_block, lease.consumer_id, lease.lane, attempts, error,
                  to_string(cause));
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

struct Limits {
  std::int32_t attempts;
  std::chrono::milliseconds wait;
};

/// After the first change failed.
void count_attempt(store::Session& session, const LeaseName& lease, const HeldLease& held,
                   const LeaseFailure& failure) {
  const Limits limits =
      store::rows_of<Limits>(execute_tuned(session, sql::leases_limits, lease.consumer_id)).at(0);
  const std::int32_t attempts = std::min(held.attempts, 1'000'000'000) + 1;
  if (failure.is_final || attempts >= limits.attempts) {
    apply_policy(session, lease, held, attempts, failure);
    return;
  }
  LeaseFailure later = failure;
  if (later.wait) later.wait = std::min(*later.wait, limits.wait);
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
  session.execute(sql::leases_note_unreadable, consumer_id, error.what());
}

}  // namespace skua::feed
