#include "consumers/leases/lease.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/random.hpp"
#include "consumers/consumer_judgement.hpp"
#include "consumers/consumer_replays.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/leases/lease.sql.hpp"
#include "consumers/leases/waiting_changes.hpp"
#include "consumers/tuning.hpp"
#include "postgres/connection_string.hpp"
#include "tables/consumer_letters.hpp"

namespace skua::consumers {

namespace {

/// The names have the order of FailureCause.
constexpr std::array<std::string_view, 12> kCauses{"change", "expiry", "unreachable", "name",
                                                   "tls",    "slow",   "refused",     "address",
                                                   "busy",   "tables", "lock",        "filter"};

/// A row of leases_lock.
struct LeasedLane {
  std::string consumer;
  std::string policy;
  std::int32_t lanes;
  std::int64_t pos;
  std::int64_t end;
  std::int32_t count;
  std::int32_t attempts;
  std::optional<AccountNumber> key;
};

/// A row of leases_choose.
struct LeasableLane {
  std::int32_t lane;
  std::int32_t lanes;
  std::int64_t epoch;
  std::int64_t pos;
  std::int64_t log_end;
  /// True if the lane's own changes are due.
  bool is_due;
  std::int32_t batch;
  // The waiting changes that are due; null if there are none.
  std::optional<AccountNumber> waiting_key;
  std::optional<std::int64_t> waiting_pos;
  std::int64_t waiting_end;
  std::int32_t waiting_batch;
  std::optional<bool> waits_longer;
  // The lease of the lane that has expired; null if the lane was not leased.
  std::optional<std::string> expired_owner;
  bool expiry_counts;
};

/// A row of leases_note_batch.
struct NotedBatch {
  Timestamp lease_until;
  std::chrono::milliseconds left;
};

void renew(postgres::Session& session, const LeaseName& lease, std::chrono::milliseconds duration) {
  session.execute(sql::leases_renew, lease.consumer_id, lease.lane, duration);
}

/// Schedules another attempt. `batch` limits the next attempt; without it the batch keeps its size.
void retry_later(postgres::Session& session, const LeaseName& lease, const HeldLease& held,
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

/// Returns the account of a change; nothing if the log does not have the change.
std::optional<AccountNumber> account_at(postgres::Session& session, std::int64_t pos) {
  return session.query_first<AccountNumber>(sql::leases_account, pos);
}

/// Whether changes of an account wait behind a dead letter, so that its lane leaves them out.
bool has_waiting(postgres::Session& session, const LeaseName& lease, AccountNumber account) {
  const auto keys = read_waiting_keys(session, lease.consumer_id, lease.lane);
  return std::binary_search(keys.begin(), keys.end(), account);
}

/// Whether the change at a position, which comes from the client, can be a change of the lease.
bool has_change(postgres::Session& session, const LeaseName& lease, const HeldLease& held,
                std::int64_t pos) {
  if (pos < held.pos || pos >= held.end) return false;
  const auto account = account_at(session, pos);
  if (held.key) {
    // The log may not have the change of a letter, which is alone in its lease.
    return account == held.key || (pos == held.pos && held.end == pos + 1);
  }
  return account && (*account & (held.lanes - 1)) == lease.lane &&
         !has_waiting(session, lease, *account);
}

void block_lane(postgres::Session& session, const LeaseName& lease, std::int32_t attempts,
                FailureCause cause, const std::string& error) {
  session.execute(sql::leases_block, lease.consumer_id, lease.lane, attempts, error,
                  to_string(cause));
}

/// Applies the policy to the first change, which failed and is not tried again. A waiting change
/// becomes a dead letter again under any policy. Returns true if the lane has passed the change, so
/// that the lease may continue.
bool apply_policy(postgres::Session& session, const LeaseName& lease, const HeldLease& held,
                  std::int32_t attempts, const LeaseFailure& failure,
                  const ReadLetterEvent& read_event) {
  const std::int64_t pos = held.pos;
  const std::string& error = failure.error;
  logger("feed")->error("{}: the change at position {} failed too often, policy {}: {}",
                        held.consumer, pos, held.policy,
                        with_code(error, problem_of_failure(held.policy)));
  const auto letter = [&] {
    return write_skipped_change(session, held.consumer, lease.lane, pos, error, read_event);
  };
  if (held.key) {
    std::int64_t id = held.waiting.letter_id;
    if (!tables::fail_requested_letter(session, id, pos, error)) id = letter().value_or(id);
    close_waiting(session, lease.consumer_id, lease.lane, *held.key, held.waiting, id);
    return false;
  }
  if (held.policy == "skip") {
    letter();
    advance_lease(session, lease, held, pos + 1);
    return true;
  }
  if (held.policy == "block_key") {
    const auto id = letter();
    const auto account = account_at(session, pos);
    if (id && account && hold_changes(session, lease.consumer_id, lease.lane, *account, pos, *id)) {
      advance_lease(session, lease, held, pos + 1);
      return true;
    }
    block_lane(session, lease, attempts, failure.cause,
               error + " (too many dead letters: the lane is blocked)");
  } else if (held.policy == "block_lane") {
    block_lane(session, lease, attempts, failure.cause, error);
  } else {
    block_lane(session, lease, attempts, failure.cause, error);
    set_consumer_state(session, lease.consumer_id, "stopped",
                       fmt::format("the change at position {} failed: {}", pos, error));
  }
  return false;
}

struct Limits {
  std::int32_t attempts;
  std::chrono::milliseconds wait;
};

/// Counts a failed attempt of the first change.
void count_attempt(postgres::Session& session, const LeaseName& lease, const HeldLease& held,
                   const LeaseFailure& failure, const ReadLetterEvent& read_event) {
  const Limits limits =
      postgres::rows_of<Limits>(execute_tuned(session, sql::leases_limits, lease.consumer_id))
          .at(0);
  const std::int32_t attempts = std::min(held.attempts, 1'000'000'000) + 1;
  if (failure.is_final || attempts >= limits.attempts) {
    apply_policy(session, lease, held, attempts, failure, read_event);
    return;
  }
  LeaseFailure later = failure;
  if (later.wait) later.wait = std::min(*later.wait, limits.wait);
  retry_later(session, lease, held, attempts, 1, later);
}

/// Halves the batch, whose failed change is unknown, or counts an attempt of the change that stands
/// alone.
void narrow_down(postgres::Session& session, const LeaseName& lease, const HeldLease& held,
                 const LeaseFailure& failure, const ReadLetterEvent& read_event) {
  if (held.count <= 1) {
    count_attempt(session, lease, held, failure, read_event);
    return;
  }
  LeaseFailure at_once = failure;
  at_once.wait = failure.wait.value_or(std::chrono::milliseconds(0));
  retry_later(session, lease, held, held.attempts, held.count / 2, at_once);
}

std::optional<LeasableLane> choose_lane(postgres::Session& session, const LaneRequest& request) {
  auto due = postgres::rows_of<LeasableLane>(
      execute_tuned(session, sql::leases_choose, request.consumer_id, request.ignores_pause,
                    request.processors, request.since_failure, request.passed_moves));
  if (due.empty()) return std::nullopt;
  return std::move(due.front());
}

/// Ends the expired lease of a lane that the transaction has locked.
void end_expired_lease(postgres::Session& session, const LeasableLane& lane,
                       const LaneRequest& request) {
  const LeaseName lease{request.consumer_id, lane.lane, lane.epoch - 1, *lane.expired_owner};
  const auto held = lock_lease(session, lease);
  if (held && lane.expiry_counts) {
    const LeaseFailure failure{.pos = {},
                               .error = "the lease ended without an answer",
                               .wait = {},
                               .cause = FailureCause::Expiry};
    logger("feed")->warn("{}: lane {}, position {}: {}", held->consumer, lane.lane, held->pos,
                         failure.error);
    session.execute(sql::leases_count_expiry, lease.consumer_id, lease.lane);
    narrow_down(session, lease, *held, failure, request.read_event);
  }
  release_lease(session, lease);
}

/// Applies the policy to each rejected change. Returns the rest of the lease, or nothing if the
/// policy ends the lease.
std::optional<HeldLease> reject_changes(postgres::Session& session, const LeaseName& lease,
                                        HeldLease held, std::vector<Rejection> rejected,
                                        const ReadLetterEvent& read_event) {
  std::ranges::sort(rejected, {}, &Rejection::pos);
  for (const Rejection& one : rejected) {
    // A repetition names changes before the present position again.
    if (one.pos < held.pos) continue;
    if (!held.key) {
      // An earlier rejection may have let the account wait.
      const auto account = account_at(session, one.pos);
      if (account && has_waiting(session, lease, *account)) continue;
    }
    if (one.pos > held.pos) {
      advance_lease(session, lease, held, one.pos);
      held = lock_lease(session, lease).value();
    }
    const LeaseFailure failure{.pos = one.pos, .error = one.error, .wait = {}, .is_final = true};
    if (!apply_policy(session, lease, held, held.attempts + 1, failure, read_event)) {
      return std::nullopt;
    }
    held = lock_lease(session, lease).value();
  }
  return held;
}

}  // namespace

std::string_view to_string(FailureCause cause) {
  return kCauses.at(static_cast<std::size_t>(cause));
}

FailureCause failure_cause(std::string_view text) {
  const auto found = std::ranges::find(kCauses, text);
  return found == kCauses.end() ? FailureCause::Change
                                : static_cast<FailureCause>(found - kCauses.begin());
}

std::optional<HeldLease> lock_lease(postgres::Session& session, const LeaseName& lease) {
  auto lane = session.query_first<LeasedLane>(sql::leases_lock, lease.consumer_id, lease.lane,
                                              lease.epoch, lease.owner);
  if (!lane) return std::nullopt;
  HeldLease held{.consumer = std::move(lane->consumer),
                 .policy = std::move(lane->policy),
                 .lanes = lane->lanes,
                 .pos = lane->pos,
                 .end = lane->end,
                 .count = lane->count,
                 .attempts = lane->attempts,
                 .key = lane->key,
                 .waiting = {}};
  if (!held.key) return held;
  held.waiting = read_waiting_changes(session, lease.consumer_id, lease.lane, *held.key);
  held.pos = held.waiting.pos;
  held.attempts = held.waiting.attempts;
  return held;
}

void advance_lease(postgres::Session& session, const LeaseName& lease, const HeldLease& held,
                   std::int64_t next) {
  if (held.key) {
    advance_waiting(session, lease.consumer_id, lease.lane, *held.key, held.waiting, next);
    return;
  }
  session.execute(sql::leases_move, lease.consumer_id, lease.lane, next);
}

void release_lease(postgres::Session& session, const LeaseName& lease) {
  session.execute(sql::leases_release, lease.consumer_id, lease.lane);
}

std::string new_lease_owner() {
  return random_token() + postgres::process_token();
}

std::optional<Lease> take_lease(postgres::Session& session, const LaneRequest& request) {
  postgres::Transaction transaction(session);
  session.execute(sql::leases_one_at_a_time, request.consumer_id, request.processors);
  open_waiting_changes(session, request.consumer_id);
  auto chosen = choose_lane(session, request);
  while (chosen && chosen->expired_owner) {
    end_expired_lease(session, *chosen, request);
    chosen = choose_lane(session, request);
  }
  if (!chosen) {
    transaction.commit();
    return std::nullopt;
  }
  const LeasableLane& lane = *chosen;
  Lease lease;
  lease.name = {request.consumer_id, lane.lane, lane.epoch, request.owner};
  lease.lanes = lane.lanes;
  if (lane.waiting_pos && (!lane.is_due || lane.waits_longer.value_or(false))) {
    lease.key = lane.waiting_key;
    lease.pos = *lane.waiting_pos;
    lease.batch = lane.waiting_batch;
    lease.letter =
        read_letter_change(session, request.consumer_id, lease.name.lane, *lease.key, lease.pos);
    lease.end = lease.letter ? lease.pos + 1 : lane.waiting_end;
  } else {
    lease.pos = lane.pos;
    lease.end = lane.log_end;
    lease.batch = lane.batch;
    lease.waiting_keys = read_waiting_keys(session, request.consumer_id, lease.name.lane);
  }
  if (request.most > 0) lease.batch = std::min(lease.batch, request.most);
  session.execute(sql::leases_take, request.consumer_id, lease.name.lane, lease.name.epoch,
                  request.owner, request.duration, lease.key, lease.pos);
  transaction.commit();
  return lease;
}

std::optional<Attempt> note_batch(postgres::Session& session, const LeaseName& lease,
                                  std::int64_t first, std::int64_t end, std::int32_t count) {
  postgres::Transaction transaction(session);
  const auto held = lock_lease(session, lease);
  if (!held) return std::nullopt;
  const bool is_moved = count > 0 && first > held->pos;
  if (is_moved) advance_lease(session, lease, *held, first);
  const auto noted = session.query_one<NotedBatch>(sql::leases_note_batch, lease.consumer_id,
                                                   lease.lane, end, count);
  transaction.commit();
  return Attempt{.number = 1 + (is_moved ? 0 : std::min(held->attempts, 1'000'000'000)),
                 .lease_until = noted.lease_until,
                 .left = noted.left};
}

LeaseResult acknowledge(postgres::Session& session, const LeaseName& lease,
                        const Acknowledgement& acknowledgement) {
  postgres::Transaction transaction(session);
  auto held = lock_lease(session, lease);
  if (!held) return LeaseResult::Lost;
  // The positions come from the client, so they can have any value.
  const std::int64_t last = acknowledgement.through.value_or(held->end - 1);
  if (last >= held->end) return LeaseResult::NotOfLease;
  for (const Rejection& one : acknowledgement.rejected) {
    const bool is_new = one.pos >= held->pos;
    if (one.pos > last || (is_new && !has_change(session, lease, *held, one.pos))) {
      return LeaseResult::NotOfLease;
    }
  }
  held = reject_changes(session, lease, *std::move(held), acknowledgement.rejected,
                        acknowledgement.read_event);
  if (!held) {
    release_lease(session, lease);
    transaction.commit();
    return LeaseResult::Ended;
  }
  const std::int64_t next = last + 1;
  // A lease of waiting changes must be advanced to its end even if it had no changes, because this
  // ends the waiting. A repetition has no effect.
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

LeaseResult renew_lease(postgres::Session& session, const LeaseName& lease,
                        std::chrono::milliseconds duration) {
  postgres::Transaction transaction(session);
  if (!lock_lease(session, lease)) return LeaseResult::Lost;
  renew(session, lease, duration);
  transaction.commit();
  return LeaseResult::Held;
}

LeaseResult report_failure(postgres::Session& session, const LeaseName& lease,
                           const LeaseFailure& failure, const ReadLetterEvent& read_event) {
  postgres::Transaction transaction(session);
  auto held = lock_lease(session, lease);
  if (!held) return LeaseResult::Lost;
  const std::int64_t pos = failure.pos.value_or(held->pos);
  const bool is_of_lease = failure.pos ? has_change(session, lease, *held, pos) : pos < held->end;
  if (!is_of_lease) return LeaseResult::NotOfLease;
  if (pos > held->pos) {
    advance_lease(session, lease, *held, pos);
    // The changes before the failed one are acknowledged now, so the failed change is the first
    // one.
    held = lock_lease(session, lease);
  }
  if (failure.is_temporary) {
    retry_later(session, lease, *held, held->attempts, std::nullopt, failure);
  } else if (failure.pos) {
    count_attempt(session, lease, *held, failure, read_event);
  } else {
    narrow_down(session, lease, *held, failure, read_event);
  }
  release_lease(session, lease);
  transaction.commit();
  return LeaseResult::Ended;
}

std::int32_t timeline_of(postgres::Session& session, const LeaseName& lease) {
  return session.query_one<std::int32_t>(sql::leases_timeline, lease.consumer_id, lease.lane,
                                         lease.epoch, lease.owner);
}

LeaseResult report_loss(postgres::Session& session, const LeaseName& lease, std::int64_t oldest) {
  postgres::Transaction transaction(session);
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

void note_unreadable(postgres::Session& session, std::int32_t consumer_id, FailureCause cause,
                     const std::string& error, std::chrono::milliseconds wait) {
  session.execute(sql::leases_note_unreadable, consumer_id, error, to_string(cause), wait);
  session.execute(sql::leases_release_unread, consumer_id);
}

void note_filter_works(postgres::Session& session, std::int32_t consumer_id) {
  session.execute(sql::leases_note_filter_works, consumer_id);
}

}  // namespace skua::consumers
