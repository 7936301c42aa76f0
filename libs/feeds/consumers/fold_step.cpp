#include "consumers/fold_step.hpp"

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "consumers/consumer_judgement.hpp"
#include "consumers/consumer_replays.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/fold_step.sql.hpp"
#include "consumers/own/own_functions.hpp"
#include "consumers/own/projection_catalog.hpp"
#include "consumers/projections/projection.hpp"
#include "consumers/projections/projection_tables.hpp"
#include "consumers/tuning.hpp"
#include "postgres/sql_error.hpp"

namespace skua::consumers {

namespace {

/// Stores the position of the oldest change whose work waits in a queue of the projection, and
/// whether the next drain waits for the time between two batches (Projection::waiting_pos).
void note_waiting(postgres::Session& session, const Projection& projection, const Batch& batch) {
  if (projection.waiting_pos.empty()) return;
  session.execute({fmt::format("fold_{}_waiting", batch.consumer_id),
                   fmt::format("UPDATE skua.consumer_lanes SET (waiting_pos, is_paced) = ({}) "
                               "WHERE consumer_id = $1::int4 AND lane = $2::int4",
                               sql_for(projection, batch.consumer_id, projection.waiting_pos))},
                  batch.consumer_id, batch.lane);
}

/// An answer of consumers_fail and consumers_wait.
struct CountedFailure {
  /// True if the failures have reached `max_attempts`.
  bool is_last;
  std::string policy;
};

/// Returns the cause of a failure that is not one of the server.
FailureCause cause_of(FailedWork failed) {
  if (failed == FailedWork::Lock) return FailureCause::Lock;
  return failed == FailedWork::Tables ? FailureCause::Tables : FailureCause::Change;
}

/// Stops the consumer or the lane.
void halt(postgres::Session& session, const Batch& batch, const std::string& policy,
          const std::string& reason) {
  session.execute(sql::consumers_block_lane, batch.consumer_id, batch.lane);
  if (policy == "block_lane") return;
  set_consumer_state(session, batch.consumer_id, "stopped", reason);
}

/// Lets the lane try the batch again later, after an error that no change caused. The failure does
/// not count as an attempt. A queue that always fails stops the lane under the policies that stop.
void wait_for_cause(postgres::Session& session, const Batch& batch, FailureCause cause,
                    const postgres::SqlError& error) {
  const auto counted = postgres::rows_of<CountedFailure>(
      execute_tuned(session, sql::consumers_wait, batch.consumer_id, batch.lane, batch.first,
                    error.what(), to_string(cause)));
  logger("feed")->error("{}: changes cannot be applied, Skua tries again: {}", batch.name,
                        with_code(error.what(), problem("consumer-stuck")));
  if (counted.empty() || cause == FailureCause::Lock) return;
  if (!counted[0].is_last || counted[0].policy == "skip") return;
  halt(session, batch, counted[0].policy,
       fmt::format("the work of earlier changes failed: {}", error.what()));
}

/// Skips a change that has failed too often: it becomes a dead letter. If its letter exceeds the
/// limits and the tables are broken, the lane is blocked instead, because all changes fail.
void skip(postgres::Session& session, const Batch& batch, FailureCause cause,
          const postgres::SqlError& error) {
  const auto letter = write_skipped_change(session, batch.name, batch.lane, batch.first,
                                           error.what(), nullptr, error.sqlstate());
  if (!letter && cause == FailureCause::Tables) {
    session.execute(sql::consumers_block_lane, batch.consumer_id, batch.lane);
  } else {
    advance_lane(session, batch.consumer_id, batch.lane, batch.first + 1);
  }
}

/// Records the failure of a batch after its transaction was rolled back, in a new transaction. If
/// another session has applied the batch meanwhile, nothing happens.
void record_failure(postgres::Session& session, const Batch& batch, FailedWork failed,
                    const postgres::SqlError& error) {
  const FailureCause cause = cause_of(failed);
  postgres::Transaction transaction(session);
  if (failed == FailedWork::Lock || batch.first == batch.end) {
    wait_for_cause(session, batch,
                   failed == FailedWork::Lock ? FailureCause::Lock : FailureCause::Tables, error);
    transaction.commit();
    return;
  }
  if (batch.end - batch.first > 1) {
    const auto half = static_cast<std::int32_t>((batch.end - batch.first) / 2);
    session.execute(sql::consumers_halve, batch.consumer_id, batch.lane, batch.first, half,
                    error.what(), to_string(cause));
    transaction.commit();
    return;
  }
  const auto counted = postgres::rows_of<CountedFailure>(
      execute_tuned(session, sql::consumers_fail, batch.consumer_id, batch.lane, batch.first,
                    error.what(), to_string(cause)));
  if (!counted.empty() && counted[0].is_last) {
    const std::string& policy = counted[0].policy;
    if (policy == "skip") {
      skip(session, batch, cause, error);
    } else {
      halt(session, batch, policy,
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
  std::string profile;
  std::string overrides;
  std::int32_t lane;
  std::int32_t lanes;
  std::int64_t first;
  std::int64_t end;
  bool has_waiting;
  /// True if the log has the change at `first`.
  bool has_first;
  bool has_bootstrap;
  /// The hash of the text of a user; empty for a built-in projection.
  std::string definition;
};

/// A lane that the transaction has locked.
struct Chosen {
  Batch batch;
  ProjectionRef projection = nullptr;
  /// True if work waits in the queues of the projection.
  bool has_waiting = false;
};

/// Returns whether this transaction may work on a lane of the consumer. A slow projection works on
/// one lane at a time.
bool take_processor(postgres::Session& session, const DueLane& lane, const Workload& workload) {
  const std::int32_t processors =
      workload.takes_slow ? 1 : tuning_of(lane.profile, lane.overrides).processors;
  return processors >= lane.lanes ||
         session.query_one<bool>(sql::consumers_take_processor, lane.consumer_id, processors);
}

/// Returns nothing if no lane has work that is due.
std::optional<DueLane> choose_lane(postgres::Session& session, const FoldOptions& options) {
  const Workload& workload = options.workload;
  std::vector<std::int32_t> slow;
  for (SlowProjections* set : workload.slow) {
    for (const std::int32_t id : set->ids()) slow.push_back(id);
  }
  if (workload.takes_slow && slow.empty()) return std::nullopt;
  std::vector<std::int32_t> busy = workload.takes_slow ? std::vector<std::int32_t>() : slow;
  const std::vector<std::int32_t> all = workload.takes_slow ? slow : std::vector<std::int32_t>();
  for (;;) {
    auto due = postgres::rows_of<DueLane>(
        execute_tuned(session, sql::consumers_choose, options.only, options.ignores_pause,
                      postgres::column(busy), workload.is_own, postgres::column(all)));
    if (due.empty()) return std::nullopt;
    if (take_processor(session, due[0], workload)) return std::move(due[0]);
    busy.push_back(due[0].consumer_id);
  }
}

/// Measures the time for which a step holds its thread, for the share of the projection.
class HeldThread {
 public:
  explicit HeldThread(const Workload& workload) : workload_(workload) {}

  /// Returns whether the projection is slow now.
  bool note(std::int32_t consumer_id) const {
    if (workload_.slow.empty()) return false;
    SlowProjections& slow = *workload_.slow.front();
    slow.note(consumer_id, std::chrono::ceil<std::chrono::milliseconds>(
                               std::chrono::steady_clock::now() - begin_));
    return slow.contains(consumer_id);
  }

 private:
  const Workload& workload_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Chooses a lane and prepares its batch. Returns nothing if no lane has work that is due.
std::optional<Chosen> choose(postgres::Session& session, const FoldOptions& options) {
  const auto due = choose_lane(session, options);
  if (!due) return std::nullopt;
  const DueLane& lane = *due;
  Chosen chosen{.batch = {.consumer_id = lane.consumer_id,
                          .name = lane.name,
                          .lane = lane.lane,
                          .lanes = lane.lanes,
                          .first = lane.first,
                          .end = lane.end,
                          .most = options.workload.is_quick()
                                      ? std::optional(options.workload.slow.front()->quick())
                                      : std::nullopt},
                .projection = projection_of(session, lane.name, lane.definition),
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
    request_rebuild(session, batch.name);
    chosen.projection = nullptr;
  }
  return chosen;
}

/// Applies the changes of the batch in the transaction that has locked the lane, and commits the
/// transaction.
void fold_changes(postgres::Session& session, postgres::Transaction& transaction,
                  const Chosen& chosen, ConsumerMetrics& metrics, const FoldOptions& options) {
  const Batch& batch = chosen.batch;
  fold_batch(session, *chosen.projection, batch);
  crash_point("before_fold_commit");
  transaction.commit();
  metrics.batches += 1;
  metrics.changes += static_cast<std::uint64_t>(batch.end - batch.first);
  if (options.applied) options.applied(batch);
  crash_point("after_fold_commit");
}

/// Does work that waits in the queues, in its own transaction, because a failure of this work is
/// not caused by a change of the batch. Then applies the changes.
void drain_and_fold(postgres::Session& session, postgres::Transaction& transaction, Chosen& chosen,
                    ConsumerMetrics& metrics, const FoldOptions& options) {
  Batch& batch = chosen.batch;
  const std::int64_t end = std::exchange(batch.end, batch.first);
  drain_queues(session, *chosen.projection, batch);
  // The result of the changes decides whether the lane has failed. A batch without changes has
  // succeeded.
  if (end == batch.first) advance_lane(session, batch.consumer_id, batch.lane, end);
  transaction.commit();
  batch.end = end;
  if (batch.first == end) return;
  postgres::Transaction changes(session);
  const bool is_next =
      !session.execute(sql::consumers_lock_next, batch.consumer_id, batch.lane, batch.first)
           .empty();
  if (is_next) fold_changes(session, changes, chosen, metrics, options);
}

}  // namespace

FailedWork failed_work(const postgres::SqlError& error) {
  const std::string_view state = error.sqlstate();
  const auto begins_with = [state](std::initializer_list<std::string_view> beginnings) {
    return std::ranges::any_of(beginnings,
                               [&](auto beginning) { return state.starts_with(beginning); });
  };
  if (state.empty() || state == postgres::kReadOnly || begins_with({"08", "53", "57P"})) {
    return FailedWork::Server;
  }
  if (state == postgres::kLockNotAvailable || begins_with({"40"})) return FailedWork::Lock;
  if (state == postgres::kSequenceExhausted) return FailedWork::Tables;
  if (state == postgres::kQueryCanceled || begins_with({"22", "23", "54", "P0"})) {
    return FailedWork::Change;
  }
  return FailedWork::Tables;
}

FailedWork failed_own_work(const postgres::SqlError& error) {
  const std::string_view state = error.sqlstate();
  const bool is_from_data =
      state.starts_with("21") || state == "53200" || state == "53400" || state == "XX000";
  return is_from_data ? FailedWork::Change : failed_work(error);
}

void apply_changes(postgres::Session& session, const Projection& projection, const Batch& batch) {
  std::size_t number = 0;
  std::optional<StatementLimit> limit;
  if (projection.own) {
    const std::chrono::milliseconds most = projection.own->limits.batch;
    limit.emplace(session, std::min(most, batch.most.value_or(most)));
  }
  for (const std::string& sql : projection.fold) {
    postgres::Params params;
    params.int8(batch.first).int8(batch.end);
    if (projection.has_lanes) params.int4(batch.lane).int4(batch.lanes);
    session.execute({fmt::format("fold_{}_{}", batch.consumer_id, ++number),
                     sql_for(projection, batch.consumer_id, sql)},
                    params);
  }
  if (limit) limit->end();
}

void fold_batch(postgres::Session& session, const Projection& projection, const Batch& batch) {
  apply_changes(session, projection, batch);
  advance_lane(session, batch.consumer_id, batch.lane, batch.end);
  note_waiting(session, projection, batch);
}

void drain_queues(postgres::Session& session, const Projection& projection, const Batch& batch) {
  std::size_t number = 0;
  for (const std::string& sql : projection.drain) {
    session.execute({fmt::format("drain_{}_{}", batch.consumer_id, ++number),
                     sql_for(projection, batch.consumer_id, sql)});
  }
  note_waiting(session, projection, batch);
}

void advance_lane(postgres::Session& session, std::int32_t consumer_id, std::int32_t lane,
                  std::int64_t position) {
  session.execute(sql::consumers_advance, consumer_id, lane, position);
}

void prepare_fold_session(postgres::Session& session) {
  session.run("SET enable_hashjoin = on; SET synchronous_commit = off");
}

StepResult fold_step(postgres::Session& session, ConsumerMetrics& metrics,
                     const FoldOptions& options) {
  std::optional<Chosen> chosen;
  const HeldThread held(options.workload);
  try {
    postgres::Transaction transaction(session);
    chosen = choose(session, options);
    if (!chosen) return StepResult::Idle;
    if (chosen->projection == nullptr) {
      transaction.commit();
    } else if (chosen->has_waiting) {
      drain_and_fold(session, transaction, *chosen, metrics, options);
    } else {
      fold_changes(session, transaction, *chosen, metrics, options);
    }
    held.note(chosen->batch.consumer_id);
    return StepResult::Worked;
  } catch (const postgres::SqlError& error) {
    if (!chosen) throw;
    const bool is_own = chosen->projection != nullptr && chosen->projection->own;
    const FailedWork failed = is_own ? failed_own_work(error) : failed_work(error);
    if (failed == FailedWork::Server) throw;
    const bool is_slow = held.note(chosen->batch.consumer_id);
    if (is_slow && options.workload.is_quick() && error.sqlstate() == postgres::kQueryCanceled) {
      // A thread for slow projections applies the batch.
      return StepResult::Worked;
    }
    metrics.failures += 1;
    record_failure(session, chosen->batch, failed, error);
    return StepResult::Worked;
  }
}

}  // namespace skua::consumers
