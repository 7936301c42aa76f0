#include "feed/consumers/fold_step.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "feed/consumers/batch_fold.hpp"
#include "feed/consumers/consumer_replays.hpp"
#include "feed/consumers/consumer_table.hpp"
#include "feed/consumers/failed_work.hpp"
#include "feed/consumers/fold_step.sql.hpp"
#include "feed/consumers/tuned_query.hpp"
#include "feed/failure_problem.hpp"
#include "feed/projections/projection.hpp"
#include "store/sqlstate.hpp"

namespace skua::feed {
namespace {

/// No change is the cause: the lane tries the batch again later. No attempt counts.
void wait_for_cause(store::Session& session, const Batch& batch, FailureCause cause,
                    const store::SqlError& error) {
  execute_tuned(session, sql::consumers_wait, batch.consumer_id, batch.lane, batch.first,
                error.what(), to_string(cause));
  logger("feed")->error("{}: changes cannot be applied, Skua tries again: {}", batch.name,
                        with_code(error.what(), problem("consumer-stuck")));
}

/// An answer of consumers_fail.
struct CountedFailure {
  /// It was the last attempt: the policy applies.
  bool is_last;
  std::string policy;
};

/// In a transaction of its own, after the one of the batch was rolled back. Meanwhile another
/// session may have applied the batch: then nothing happens.
void record_failure(store::Session& session, const Batch& batch, FailedWork failed,
                    const store::SqlError& error) {
  store::Transaction transaction(session);
  // The work of a queue concerns no change that could be left out.
  if (failed != FailedWork::Change || batch.first == batch.end) {
    wait_for_cause(session, batch,
                   failed == FailedWork::Lock ? FailureCause::Lock : FailureCause::Tables, error);
    transaction.commit();
    return;
  }
  if (batch.end - batch.first > 1) {
    const auto half = static_cast<std::int32_t>((batch.end - batch.first) / 2);
    session.execute(sql::consumers_halve, batch.consumer_id, batch.lane, batch.first, half,
                    error.what());
    transaction.commit();
    return;
  }
  const auto counted = store::rows_of<CountedFailure>(execute_tuned(
      session, sql::consumers_fail, batch.consumer_id, batch.lane, batch.first, error.what()));
  if (!counted.empty() && counted[0].is_last) {
    const std::string& policy = counted[0].policy;
    if (policy == "skip") {
      write_skipped_change(session, batch.name, batch.lane, batch.first, error.what(),
                           error.sqlstate());
      advance_lane(session, batch.consumer_id, batch.lane, batch.first + 1);
    } else if (policy == "block_lane") {
      session.execute(sql::consumers_block_lane, batch.consumer_id, batch.lane);
    } else {
      set_consumer_state(
          session, batch.consumer_id, "stopped",
          fmt::format("the change at position {} failed: {}", batch.first, error.what()));
    }
    logger("feed")->error("{}: the change at position {} failed too often, policy {}: {}",
                          batch.name, batch.first, policy,
                          with_code(error.what(), problem_of_failure(policy)));
  }
  transaction.commit();
}

/// A row of consumers_choose.
struct DueLane {
  std::int32_t consumer_id;
  std::string name;
  std::int32_t lane;
  std::int32_t lanes;
  std::int64_t first;
  std::int64_t end;
  bool has_waiting;
  /// The log has the change at `first`.
  bool has_first;
  bool has_bootstrap;
};

/// A lane that the transaction has locked.
struct Chosen {
  Batch batch;
  const Projection* projection = nullptr;
  /// Work waits in its queues.
  bool has_waiting = false;
};

/// Nothing: no lane has work that is due.
std::optional<Chosen> choose(store::Session& session, const FoldOptions& options) {
  const auto due = store::rows_of<DueLane>(
      execute_tuned(session, sql::consumers_choose, options.only, options.ignores_pause));
  if (due.empty()) return std::nullopt;
  const DueLane& lane = due[0];
  Chosen chosen{.batch = {.consumer_id = lane.consumer_id,
                          .name = lane.name,
                          .lane = lane.lane,
                          .lanes = lane.lanes,
                          .first = lane.first,
                          .end = lane.end},
                .projection = find_projection(lane.name),
                .has_waiting = lane.has_waiting};
  const Batch& batch = chosen.batch;
  if (chosen.projection == nullptr) {
    set_consumer_state(session, batch.consumer_id, "stopped",
                       "this version of skua does not have it");
  } else if (!lane.has_first) {
    set_consumer_state(session, batch.consumer_id, "lagged out",
                       fmt::format("the log does not have position {} any more", batch.first));
    chosen.projection = nullptr;
  } else if (lane.has_bootstrap) {
    set_consumer_state(session, batch.consumer_id, "stopped",
                       "records of a bootstrap are not in the log: it is rebuilt");
    request_rebuild(session, *chosen.projection);
    chosen.projection = nullptr;
  }
  return chosen;
}

/// Applies the changes of the batch in the transaction that has locked the lane, and commits it.
void fold_changes(store::Session& session, store::Transaction& transaction, const Chosen& chosen,
                  ConsumerMetrics& metrics) {
  const Batch& batch = chosen.batch;
  fold_batch(session, *chosen.projection, batch);
  crash_point("before_fold_commit");
  transaction.commit();
  metrics.batches += 1;
  metrics.changes += static_cast<std::uint64_t>(batch.end - batch.first);
  crash_point("after_fold_commit");
}

/// Does work that waits in the queues, in a transaction of its own: if it fails, no change of the
/// batch is the cause. Then applies the changes.
void drain_and_fold(store::Session& session, store::Transaction& transaction, Chosen& chosen,
                    ConsumerMetrics& metrics) {
  Batch& batch = chosen.batch;
  const std::int64_t end = std::exchange(batch.end, batch.first);
  drain_queues(session, *chosen.projection, batch);
  // The changes decide whether the lane has failed. Without any it has not.
  if (end == batch.first) advance_lane(session, batch.consumer_id, batch.lane, end);
  transaction.commit();
  batch.end = end;
  if (batch.first == end) return;
  store::Transaction changes(session);
  const bool is_next =
      !session.execute(sql::consumers_lock_next, batch.consumer_id, batch.lane, batch.first)
           .empty();
  if (is_next) fold_changes(session, changes, chosen, metrics);
}

}  // namespace

void prepare_fold_session(store::Session& session) {
  session.run("SET enable_hashjoin = on; SET synchronous_commit = off");
}

StepResult fold_step(store::Session& session, ConsumerMetrics& metrics,
                     const FoldOptions& options) {
  std::optional<Chosen> chosen;
  try {
    store::Transaction transaction(session);
    chosen = choose(session, options);
    if (!chosen) return StepResult::Idle;
    if (chosen->projection == nullptr) {
      transaction.commit();
    } else if (chosen->has_waiting) {
      drain_and_fold(session, transaction, *chosen, metrics);
    } else {
      fold_changes(session, transaction, *chosen, metrics);
    }
    return StepResult::Worked;
  } catch (const store::SqlError& error) {
    const FailedWork failed = failed_work(error);
    if (failed == FailedWork::Server || !chosen) throw;
    metrics.failures += 1;
    record_failure(session, chosen->batch, failed, error);
    return StepResult::Worked;
  }
}

}  // namespace skua::feed
