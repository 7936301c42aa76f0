#include "feed/consumers/fold_step.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "feed/consumers/batch_fold.hpp"
#include "feed/consumers/consumer_replays.hpp"
#include "feed/consumers/consumer_table.hpp"
#include "feed/consumers/lane_outcome_sql.hpp"
#include "feed/consumers/tuning_sql.hpp"
#include "feed/failure_problem.hpp"
#include "feed/projections/projection.hpp"
#include "store/sqlstate.hpp"

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
        "AND b.kind = '{5}') "
        "FROM (SELECT skua.change_log_end() AS log_end WHERE NOT EXISTS (SELECT FROM "
        "skua.dropped_indexes)) AS e CROSS JOIN skua.consumers AS c "
        "JOIN skua.consumer_lanes AS l ON l.consumer_id = c.id ") +
        kTuningJoin +
        "WHERE c.kind = 'projection' AND c.state = 'running' AND c.role <> 'retired' AND NOT "
        "c.paused "
        "AND NOT l.is_blocked AND (l.pos < e.log_end OR l.has_more) "
        "AND (l.retry_at IS NULL OR l.retry_at <= clock_timestamp()) "
        "AND ($7::text = '' OR c.name = $7::text) AND ($8::boolean OR l.served_at + p.pause * "
        "interval '1 millisecond' <= clock_timestamp() "
        "OR e.log_end - l.pos >= p.batch) "
        "ORDER BY l.served_at LIMIT 1 FOR UPDATE OF l SKIP LOCKED"};

const Statement kHalve{
    "consumers_halve",
    std::string("UPDATE skua.consumer_lanes SET batch = $4::int4, error = $5::text, served_at = "
                "clock_timestamp(), ") +
        kLaneFailed + " WHERE consumer_id = $1::int4 AND lane = $2::int4 AND pos = $3::int8"};

const Statement kFail{
    "consumers_fail",
    std::string("UPDATE skua.consumer_lanes AS l SET attempts = l.attempts + 1, error = $10::text, "
                "batch = 1, served_at = clock_timestamp(), retry_at = clock_timestamp() + "
                "least(p.retry * power(2, least(l.attempts, 20)), p.max_retry) * interval "
                "'1 millisecond', ") +
        kLaneFailed + " FROM skua.consumers AS c " + kTuningJoin +
        "WHERE c.id = $7::int4 AND l.consumer_id = c.id AND l.lane = $8::int4 AND l.pos = $9::int8 "
        "RETURNING l.attempts >= p.max_attempts, c.policy"};

const Statement kBlockLane{
    "consumers_block_lane",
    "UPDATE skua.consumer_lanes SET is_blocked = true WHERE consumer_id = $1::int4 AND lane = "
    "$2::int4"};

/// In a transaction of its own, after the one of the batch was rolled back. Meanwhile another
/// session may have applied the batch: then nothing happens.
void record_failure(store::Session& session, const Batch& batch, const store::SqlError& error) {
  store::Transaction transaction(session);
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
  const store::Rows failed = session.execute(kFail, params);
  if (!failed.empty() && failed.boolean(0, 0)) {
    if (failed.text(0, 1) == "skip" && batch.first < batch.end) {
      write_skipped_change(session, batch.name, batch.lane, batch.first, error.what(),
                           error.sqlstate());
      advance_lane(session, batch.consumer_id, batch.lane, batch.first + 1);
    } else if (failed.text(0, 1) == "block_lane") {
      store::Params blocked;
      blocked.int4(batch.consumer_id).int4(batch.lane);
      session.execute(kBlockLane, blocked);
    } else {
      set_consumer_state(
          session, batch.consumer_id, "stopped",
          fmt::format("the change at position {} failed: {}", batch.first, error.what()));
    }
    logger("feed")->error("{}: the change at position {} failed too often, policy {}: {}",
                          batch.name, batch.first, failed.text(0, 1),
                          with_code(error.what(), problem_of_failure(failed.text(0, 1))));
  }
  transaction.commit();
}

}  // namespace

void prepare_fold_session(store::Session& session) {
  session.run("SET enable_hashjoin = on; SET synchronous_commit = off");
}

StepResult fold_step(store::Session& session, ConsumerMetrics& metrics,
                     const FoldOptions& options) {
  Batch batch;
  try {
    std::uint64_t folded = 0;
    store::Transaction transaction(session);
    store::Params params;
    add_profiles(params);
    params.text(options.only).boolean(options.ignores_pause);
    const store::Rows chosen = session.execute(kChoose, params);
    if (chosen.empty()) return StepResult::Idle;
    batch = {.consumer_id = chosen.int4(0, 0),
             .name = std::string(chosen.text(0, 1)),
             .lane = chosen.int4(0, 2),
             .lanes = chosen.int4(0, 3),
             .first = chosen.int8(0, 4),
             .end = chosen.int8(0, 5)};
    const Projection* projection = find_projection(batch.name);
    if (projection == nullptr) {
      set_consumer_state(session, batch.consumer_id, "stopped",
                         "this version of skua does not have it");
    } else if (!chosen.boolean(0, 6)) {
      set_consumer_state(session, batch.consumer_id, "lagged out",
                         fmt::format("the log does not have position {} any more", batch.first));
    } else if (chosen.boolean(0, 8)) {
      set_consumer_state(session, batch.consumer_id, "stopped",
                         "records of a bootstrap are not in the log: it is rebuilt");
      request_rebuild(session, *projection);
    } else {
      fold_batch(session, *projection, batch);
      crash_point("before_fold_commit");
      folded = static_cast<std::uint64_t>(batch.end - batch.first);
    }
    transaction.commit();
    metrics.batches += folded > 0 ? 1 : 0;
    metrics.changes += folded;
    crash_point("after_fold_commit");
    return StepResult::Worked;
  } catch (const store::DataError& error) {
    metrics.failures += 1;
    record_failure(session, batch, error);
    return StepResult::Worked;
  }
}

}  // namespace skua::feed
