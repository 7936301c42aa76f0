#include "feed/consumers/projection_upkeep.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "feed/consumers/batch_fold.hpp"
#include "feed/consumers/consumer_table.hpp"
#include "feed/projections/projection.hpp"
#include "feed/projections/projection_tables.hpp"
#include "store/sqlstate.hpp"

namespace skua::feed {
namespace {

using store::Statement;

/// How long readers may wait behind an exchange that waits for other readers.
constexpr std::chrono::milliseconds kExchangePatience{200};
/// A build this close to the end of the log is exchanged. A projection that is farther from it is
/// not checked now and then, because a check applies the rest in one transaction.
constexpr std::int64_t kNearEnd = 10'000;
/// How often a check continues with work that earlier changes caused.
constexpr int kRoundsOfCheck = 100;

// Lanes exist: the tables are built, and a crash came before the consumer was set to running.
const Statement kNextToBuild{
    "consumers_next_to_build",
    "SELECT c.id, c.name, c.lanes, EXISTS (SELECT FROM skua.consumer_lanes AS l WHERE "
    "l.consumer_id = c.id) FROM skua.consumers AS c WHERE c.state = 'filling' AND c.role = 'next' "
    "AND NOT c.paused AND (c.retry_at IS NULL OR c.retry_at <= clock_timestamp()) "
    "AND NOT EXISTS (SELECT FROM skua.dropped_indexes) ORDER BY c.id"};
const Statement kLockBuild{"consumers_lock_build",
                           "SELECT pg_try_advisory_xact_lock(1936422147, $1::int4)"};
const Statement kInsertLanes{
    "consumers_insert_lanes",
    "INSERT INTO skua.consumer_lanes (consumer_id, lane, pos, start) SELECT $1::int4, n::int2, "
    "e.start, e.start FROM (SELECT skua.change_log_end() AS start) AS e "
    "CROSS JOIN generate_series(0, $2::int4 - 1) AS n"};
const Statement kSetRunning{
    "consumers_set_running",
    "UPDATE skua.consumers SET state = 'running', error = NULL WHERE id = $1::int4 AND state = "
    "'filling' AND role = 'next'"};
const Statement kBuildFailed{
    "consumers_build_failed",
    "UPDATE skua.consumers SET error = $2::text, retry_at = clock_timestamp() + interval '1 "
    "minute' WHERE id = $1::int4 AND state = 'filling'"};
const Statement kNeedsOwner{"consumers_need_owner",
                            "UPDATE skua.consumers SET error = $1::text WHERE state = 'filling' "
                            "AND role = 'next' AND error "
                            "IS DISTINCT FROM $1::text RETURNING name"};
const Statement kNextToExchange{
    "consumers_next_to_exchange",
    "SELECT c.id, c.name, c.lanes FROM skua.consumers AS c WHERE c.role = 'next' AND c.state = "
    "'running' AND NOT c.paused AND NOT EXISTS (SELECT FROM skua.consumer_lanes AS b WHERE "
    "b.consumer_id = c.id AND b.is_blocked) AND (SELECT min(l.pos) FROM skua.consumer_lanes AS l "
    "WHERE "
    "l.consumer_id = c.id) >= skua.change_log_end() - $1::int8 ORDER BY c.id LIMIT 1"};
const Statement kLockLanes{"consumers_lock_lanes",
                           "SELECT lane, pos FROM skua.consumer_lanes WHERE consumer_id = $1::int4 "
                           "ORDER BY lane FOR UPDATE"};
const Statement kLogEnd{"consumers_log_end", "SELECT skua.change_log_end()"};
const Statement kRetireLive{"consumers_retire_live",
                            "UPDATE skua.consumers SET role = 'retired' WHERE name = $1::text AND "
                            "role = 'live'"};
const Statement kMakeLive{"consumers_make_live",
                          "UPDATE skua.consumers SET role = 'live' WHERE id = $1::int4 AND role = "
                          "'next'"};
const Statement kLanesWithMore{"consumers_lanes_with_more",
                               "SELECT lane, pos FROM skua.consumer_lanes WHERE consumer_id = "
                               "$1::int4 AND has_more ORDER BY lane"};
const Statement kRetired{"consumers_retired",
                         "SELECT id, name FROM skua.consumers WHERE role = 'retired' ORDER BY id "
                         "LIMIT 1 FOR UPDATE SKIP LOCKED"};
const Statement kDelete{
    "consumers_delete",
    "WITH lanes AS (DELETE FROM skua.consumer_lanes WHERE consumer_id = "
    "$1::int4), waiting AS (DELETE FROM skua.waiting_changes WHERE consumer_id = "
    "$1::int4), secrets AS (DELETE FROM skua.consumer_secrets WHERE "
    "consumer_id = $1::int4) DELETE FROM skua.consumers WHERE id = $1::int4"};
const Statement kLive{
    "consumers_live",
    "SELECT c.id, c.lanes, skua.change_log_end() - (SELECT min(l.pos) FROM skua.consumer_lanes AS "
    "l "
    "WHERE l.consumer_id = c.id) FROM skua.consumers AS c WHERE c.name = $1::text AND c.role = "
    "'live' AND c.state = 'running'"};

store::Params of_id(std::int32_t id) {
  store::Params params;
  params.int4(id);
  return params;
}

void set_running(store::Session& session, std::int32_t consumer_id) {
  session.execute(kSetRunning, of_id(consumer_id));
}

/// Locks all lanes of a consumer and applies the changes up to the end of the log.
void fold_to_end(store::Session& session, const Projection& projection, std::int32_t consumer_id,
                 std::int32_t lanes) {
  const store::Rows locked = session.execute(kLockLanes, of_id(consumer_id));
  const std::int64_t end = session.execute(kLogEnd, {}).int8(0, 0);
  for (std::size_t i = 0; i < locked.size(); ++i) {
    const Batch batch{.consumer_id = consumer_id,
                      .name = std::string(projection.name),
                      .lane = locked.int4(i, 0),
                      .lanes = lanes,
                      .first = locked.int8(i, 1),
                      .end = end};
    if (batch.first < batch.end) fold_batch(session, projection, batch);
  }
}

/// As `fold_to_end`, and does the work that is left then. False: there is too much of it.
bool fold_everything(store::Session& session, const Projection& projection,
                     std::int32_t consumer_id, std::int32_t lanes) {
  fold_to_end(session, projection, consumer_id, lanes);
  for (int i = 0; i < kRoundsOfCheck; ++i) {
    const store::Rows waiting = session.execute(kLanesWithMore, of_id(consumer_id));
    if (waiting.empty()) return true;
    for (std::size_t lane = 0; lane < waiting.size(); ++lane) {
      const Batch batch{.consumer_id = consumer_id,
                        .name = std::string(projection.name),
                        .lane = waiting.int4(lane, 0),
                        .lanes = lanes,
                        .first = waiting.int8(lane, 1),
                        .end = waiting.int8(lane, 1)};
      fold_batch(session, projection, batch);
    }
  }
  return false;
}

/// The snapshot of the transaction is that of its first statement, the lock.
bool build(store::Session& session, const Projection& projection, std::int32_t consumer_id,
           std::int32_t lanes) {
  store::Transaction transaction(session);
  session.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
  if (!session.execute(kLockBuild, of_id(consumer_id)).boolean(0, 0)) return false;
  logger("feed")->info("{}: building its tables from the records", projection.name);
  build_tables(session, projection, consumer_id);
  store::Params params;
  params.int4(consumer_id).int4(lanes);
  session.execute(kInsertLanes, params);
  crash_point("before_build_commit");
  transaction.commit();
  crash_point("after_build_commit");
  logger("feed")->info("{}: its tables are built", projection.name);
  return true;
}

/// The session's role cannot build.
void note_that_owner_is_needed(store::Session& session) {
  const std::string reason =
      "only the owner of the tables can build it: run `skua consumers run-until-idle` as that role";
  const store::Rows waiting = session.execute(kNeedsOwner, store::Params().text(reason));
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    logger("feed")->warn("{}: {}", waiting.text(i, 0), reason);
  }
}

}  // namespace

bool maintain_projections(store::Session& session, ConsumerMetrics& metrics) {
  if (!may_change_tables(session)) {
    note_that_owner_is_needed(session);
    return false;
  }
  return build_projection(session, metrics) || exchange_projection(session) ||
         drop_retired_projection(session);
}

bool build_projection(store::Session& session, ConsumerMetrics& metrics) {
  const store::Rows waiting = session.execute(kNextToBuild, {});
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const std::int32_t id = waiting.int4(i, 0);
    const Projection* projection = find_projection(waiting.text(i, 1));
    if (projection == nullptr) continue;
    try {
      if (!waiting.boolean(i, 3)) {
        if (!build(session, *projection, id, waiting.int4(i, 2))) continue;
        metrics.builds += 1;
      }
      set_running(session, id);
      return true;
    } catch (const store::DataError& error) {
      store::Params params;
      params.int4(id).text(error.what());
      session.execute(kBuildFailed, params);
      logger("feed")->error("{}: the build failed: {}", projection->name, error.what());
    }
  }
  return false;
}

bool exchange_projection(store::Session& session) {
  store::Params near_end;
  near_end.int8(kNearEnd);
  const store::Rows found = session.execute(kNextToExchange, near_end);
  if (found.empty()) return false;
  const std::int32_t id = found.int4(0, 0);
  const std::string name(found.text(0, 1));
  const Projection* projection = find_projection(name);
  if (projection == nullptr) return false;
  session.limit_lock_waits(kExchangePatience);
  bool exchanged = false;
  try {
    store::Transaction transaction(session);
    store::Params params;
    params.text(name);
    const auto former = lock_published(session, *projection);
    fold_to_end(session, *projection, id, found.int4(0, 2));
    session.execute(kRetireLive, params);
    // Nothing: a command removed the consumer meanwhile.
    if (session.execute(kMakeLive, of_id(id)).affected() == 1) {
      show_tables(session, *projection, id);
      publish_tables(session, *projection, former, id);
      crash_point("before_exchange_commit");
      transaction.commit();
      crash_point("after_exchange_commit");
      exchanged = true;
    }
  } catch (const store::ServerError& error) {
    if (error.sqlstate() != store::kLockNotAvailable) throw;
  }
  session.limit_lock_waits(store::kLockPatience);
  if (exchanged) logger("feed")->info("{}: bsky.{} shows the new tables", name, name);
  return exchanged;
}

bool drop_retired_projection(store::Session& session) {
  session.limit_lock_waits(kExchangePatience);
  bool dropped = false;
  try {
    store::Transaction transaction(session);
    const store::Rows found = session.execute(kRetired, {});
    if (!found.empty()) {
      const std::int32_t id = found.int4(0, 0);
      // A session that applies a batch to the tables holds its lane.
      session.execute(kLockLanes, of_id(id));
      if (const Projection* projection = find_projection(found.text(0, 1))) {
        drop_tables(session, *projection, id);
      }
      session.execute(kDelete, of_id(id));
      transaction.commit();
      dropped = true;
    }
  } catch (const store::ServerError& error) {
    if (error.sqlstate() != store::kLockNotAvailable) throw;
  }
  session.limit_lock_waits(store::kLockPatience);
  return dropped;
}

void rebuild_old_versions(store::Session& session) {
  for (const Consumer& consumer : read_consumers(session)) {
    const Projection* projection = find_projection(consumer.name);
    if (consumer.role != "live" || projection == nullptr) continue;
    if (consumer.version != projection->version) rebuild_consumer(session, consumer.name);
  }
}

std::optional<std::vector<std::string>> check_projection(store::Session& session,
                                                         const std::string& name,
                                                         std::optional<std::int32_t> keys,
                                                         ConsumerMetrics& metrics) {
  const Projection* projection = find_projection(name);
  if (projection == nullptr) return std::nullopt;
  std::vector<std::string> differences;
  try {
    // It is rolled back: its snapshot does not have the end of the log, so nothing can be appended.
    store::Transaction transaction(session);
    session.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    store::Params of_name;
    of_name.text(name);
    const store::Rows live = session.execute(kLive, of_name);
    if (live.empty() || (keys && live.int8(0, 2) > kNearEnd)) return std::nullopt;
    if (!fold_everything(session, *projection, live.int4(0, 0), live.int4(0, 1))) {
      return std::nullopt;
    }
    store::Params params;
    keys ? params.int4(*keys) : params.null();
    const store::Rows rows =
        session.execute({fmt::format("differences_{}", live.int4(0, 0)),
                         sql_for(*projection, live.int4(0, 0), projection->differences)},
                        params);
    for (std::size_t i = 0; i < rows.size(); ++i) differences.emplace_back(rows.text(i, 0));
  } catch (const store::ServerError& error) {
    // Another session has moved a lane since the snapshot, or works on it.
    if (error.sqlstate() != store::kSerializationFailure &&
        error.sqlstate() != store::kLockNotAvailable) {
      throw;
    }
    return std::nullopt;
  }
  metrics.differences += differences.size();
  for (const std::string& difference : differences) {
    logger("feed")->error("{} differs from the records: {}", name, difference);
  }
  return differences;
}

}  // namespace skua::feed
