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
#include "feed/consumers/lane_outcome_sql.hpp"
#include "feed/consumers/tuning_sql.hpp"
#include "feed/failure_problem.hpp"
#include "feed/projections/projection.hpp"
#include "store/sqlstate.hpp"
#include "feed/consumers/fold_step.sql.hpp"

namespace skua::feed {
namespace {

using store::Statement;

const Statement kChoose{
    "consumers_choose",
    std::string(
        "SELECT c.id, c.name, l.lane, c.lanes, l.pos, least(e.log_end, l.pos + "
        "least(l.batch, p.batch)), EXISTS (SELECT FROM skua.change_log AS b WHERE b.pos <= "
        "l.pos), coalesce(l.batch, 0), EXISTS (SELECT FROM skua.change_log AS b WHERE b.pos "
        ">= l.pos AND b.pos < least(e.log_end, l.pos + least(l.batch, p.batch)) AND b.n = 1 "
        "AND b.kind = '{5}'), l.waiting_pos IS NOT NULL "
        "FROM (SELECT skua.change_log_end() AS log_end WHERE NOT EXISTS (SELECT FROM "
        "skua.dropped_indexes)) AS e CROSS JOIN skua.consumers AS c "
        "JOIN skua.consumer_lanes AS l ON l.consumer_id = c.id ") +
        kTuningJoin +
        "WHERE c.kind = 'projection' AND c.state = 'running' AND c.role <> 'retired' AND NOT "
        "c.paused "
        "AND NOT l.is_blocked AND (l.pos < e.log_end OR l.waiting_pos IS NOT NULL) "
        "AND (l.retry_at IS NULL OR l.retry_at <= clock_timestamp()) "
        "AND ($7::text = '' OR c.name = $7::text) AND ($8::boolean OR l.served_at + p.pause * "
        "interval '1 millisecond' <= clock_timestamp() "
        "OR e.log_end - l.pos >= p.batch OR l.waiting_pos IS NOT NULL AND NOT l.is_paced) "
        "ORDER BY l.served_at LIMIT 1 FOR UPDATE OF l SKIP LOCKED"};

const Statement kHalve{
    "consumers_halve",
    std::string("UPDATE skua.consumer_lanes SET batch = $4::int4, error = $5::text, cause = NULL, "
                "served_at = clock_timestamp(), ") +
        kLaneFailed + " WHERE consumer_id = $1::int4 AND lane = $2::int4 AND pos = $3::int8"};

const Statement kFail{
    "consumers_fail",
    std::string(
        "UPDATE skua.consumer_lanes AS l SET attempts = l.attempts + 1, error = $10::text, "
        "cause = NULL, batch = 1, served_at = clock_timestamp(), retry_at = clock_timestamp() + "
        "least(p.retry * power(2, least(l.attempts, 20)), p.max_retry) * interval "
        "'1 millisecond', ") +
        kLaneFailed + " FROM skua.consumers AS c " + kTuningJoin +
        "WHERE c.id = $7::int4 AND l.consumer_id = c.id AND l.lane = $8::int4 AND l.pos = $9::int8 "
        "RETURNING l.attempts >= p.max_attempts, c.policy"};

const Statement kWait{
    "consumers_wait",
    std::string("UPDATE skua.consumer_lanes AS l SET error = $10::text, cause = $11::text, "
                "served_at = clock_timestamp(), retry_at = clock_timestamp() + least(p.retry * "
                "power(2, least(l.failures, 20)), p.max_retry) * interval '1 millisecond', ") +
        kLaneFailed + " FROM skua.consumers AS c " + kTuningJoin +
        "WHERE c.id = $7::int4 AND l.consumer_id = c.id AND l.lane = $8::int4 AND l.pos = "
        "$9::int8"};

/// No change is the cause: the lane tries the batch again later. No attempt counts.
void wait_for_cause(store::Session& session, const Batch& batch, FailureCause cause,
                    const store::SqlError& error) {
  store::Params params;
  add_profiles(params);
  params.int4(batch.consumer_id).int4(batch.lane).int8(batch.first).text(error.what());
  params.text(to_string(cause));
  session.execute(kWait, params);
  logger("feed")->error("{}: changes cannot be applied, Skua tries again: {}", batch.name,
                        with_code(error.what(), problem("consumer-stuck")));
}

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
    store::Params params;
    params.int4(batch.consumer_id).int4(batch.lane).int8(batch.first);
    params.int4(static_cast<std::int32_t>((batch.end - batch.first) / 2)).text(error.what());
    session.execute(kHalve, params);
    transaction.commit();
    return;
  }
  store::Params params;
  add_profiles(params);
  params.int4(batch.consumer_id).int4(batch.lane).int8(batch.first).text(error.what());
  const store::Rows counted = session.execute(kFail, params);
  if (!counted.empty() && counted.boolean(0, 0)) {
    if (counted.text(0, 1) == "skip") {
      write_skipped_change(session, batch.name, batch.lane, batch.first, error.what(),
                           error.sqlstate());
      advance_lane(session, batch.consumer_id, batch.lane, batch.first + 1);
    } else if (counted.text(0, 1) == "block_lane") {
      store::Params blocked;
      blocked.int4(batch.consumer_id).int4(batch.lane);
      session.execute(sql::consumers_block_lane, blocked);
    } else {
      set_consumer_state(
          session, batch.consumer_id, "stopped",
          fmt::format("the change at position {} failed: {}", batch.first, error.what()));
    }
    logger("feed")->error("{}: the change at position {} failed too often, policy {}: {}",
                          batch.name, batch.first, counted.text(0, 1),
                          with_code(error.what(), problem_of_failure(counted.text(0, 1))));
  }
  transaction.commit();
}

/// A lane that the transaction has locked.
struct Chosen {
  Batch batch;
  const Projection* projection = nullptr;
  /// Work waits in its queues.
  bool has_waiting = false;
};

/// Nothing: no lane has work that is due.
std::optional<Chosen> choose(store::Session& session, const FoldOptions& options) {
  store::Params params;
  add_profiles(params);
  params.text(options.only).boolean(options.ignores_pause);
  const store::Rows rows = session.execute(kChoose, params);
  if (rows.empty()) return std::nullopt;
  Chosen chosen{.batch = {.consumer_id = rows.int4(0, 0),
                          .name = std::string(rows.text(0, 1)),
                          .lane = rows.int4(0, 2),
                          .lanes = rows.int4(0, 3),
                          .first = rows.int8(0, 4),
                          .end = rows.int8(0, 5)},
                .projection = find_projection(rows.text(0, 1)),
                .has_waiting = rows.boolean(0, 9)};
  const Batch& batch = chosen.batch;
  if (chosen.projection == nullptr) {
    set_consumer_state(session, batch.consumer_id, "stopped",
                       "this version of skua does not have it");
  } else if (!rows.boolean(0, 6)) {
    set_consumer_state(session, batch.consumer_id, "lagged out",
                       fmt::format("the log does not have position {} any more", batch.first));
    chosen.projection = nullptr;
  } else if (rows.boolean(0, 8)) {
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
  store::Params params;
  params.int4(batch.consumer_id).int4(batch.lane).int8(batch.first);
  if (!session.execute(sql::consumers_lock_next, params).empty()) fold_changes(session, changes, chosen, metrics);
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
