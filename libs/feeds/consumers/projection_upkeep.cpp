#include "consumers/projection_upkeep.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "base/problem.hpp"
#include "consumers/consumer_judgement.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/fold_step.hpp"
#include "consumers/own/own_functions.hpp"
#include "consumers/own/projection_catalog.hpp"
#include "consumers/projection_upkeep.sql.hpp"
#include "consumers/projections/projection.hpp"
#include "consumers/projections/projection_tables.hpp"
#include "postgres/locks.hpp"
#include "postgres/sql_error.hpp"

namespace skua::consumers {
namespace {

/// Limits the time for which readers wait behind an exchange that waits for other readers.
constexpr std::chrono::milliseconds kExchangePatience{200};
/// The tables of a build whose distance from the end of the log is at most this number of changes
/// are exchanged. The regular check skips a projection with a larger distance, because a check
/// applies all remaining changes in one transaction.
constexpr std::int64_t kNearEnd = 10'000;
/// The space of the advisory locks of builds: schema/tables/consumers.sql.
constexpr std::int32_t kBuilds = 1936422147;
/// dependent_objects_still_exist.
constexpr std::string_view kDependentObjects = "2BP01";
/// A check drains the queues of earlier changes at most this number of times.
constexpr int kRoundsOfCheck = 100;

/// A lane and its position.
struct LanePosition {
  std::int32_t lane;
  std::int64_t pos;
};

/// A consumer whose tables need work now.
struct DueConsumer {
  std::int32_t id;
  std::string name;
  /// The hash of the text of a user; empty for a built-in projection.
  std::string definition;
  std::int32_t lanes;
};

/// A row of consumers_next_to_build.
struct DueBuild {
  std::int32_t id;
  std::string name;
  std::string definition;
  std::int32_t lanes;
  bool is_built;
};

/// A row of consumers_live.
struct LiveConsumer {
  std::int32_t id;
  std::int32_t lanes;
  std::optional<std::int64_t> behind;
  std::string definition;
  bool has_moved;
};

void set_running(postgres::Session& session, std::int32_t consumer_id) {
  session.execute(sql::consumers_set_running, consumer_id);
}

/// Locks all lanes of a consumer and applies the changes up to the end of the log.
void fold_to_end(postgres::Session& session, const Projection& projection, std::int32_t consumer_id,
                 std::int32_t lanes) {
  const auto locked = session.query<LanePosition>(sql::consumers_lock_lanes, consumer_id);
  const auto end = session.query_one<std::int64_t>(sql::consumers_log_end);
  for (const auto& [lane, pos] : locked) {
    const Batch batch{.consumer_id = consumer_id,
                      .name = std::string(projection.name),
                      .lane = lane,
                      .lanes = lanes,
                      .first = pos,
                      .end = end};
    if (batch.first < batch.end) fold_batch(session, projection, batch);
  }
}

/// Calls `fold_to_end`, and then does the work that waits in the queues. Returns false if there is
/// too much of this work.
bool fold_everything(postgres::Session& session, const Projection& projection,
                     std::int32_t consumer_id, std::int32_t lanes) {
  fold_to_end(session, projection, consumer_id, lanes);
  for (int i = 0; i < kRoundsOfCheck; ++i) {
    const auto waiting = session.query<LanePosition>(sql::consumers_waiting_lanes, consumer_id);
    if (waiting.empty()) return true;
    for (const auto& [lane, pos] : waiting) {
      const Batch batch{.consumer_id = consumer_id,
                        .name = std::string(projection.name),
                        .lane = lane,
                        .lanes = lanes,
                        .first = pos,
                        .end = pos};
      drain_queues(session, projection, batch);
    }
  }
  return false;
}

/// Returns false if another session builds the tables, or has just built them.
bool build(postgres::Session& session, const Projection& projection, std::int32_t consumer_id,
           std::int32_t lanes) {
  const postgres::TriedLock lock(session, {kBuilds, consumer_id});
  if (!lock.is_taken()) return false;
  postgres::Transaction transaction(session);
  session.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
  if (!session.query_one<bool>(sql::consumers_must_be_built, consumer_id)) return false;
  logger("feed")->info("{}: building its tables from the records", projection.name);
  build_tables(session, projection, consumer_id);
  session.execute(sql::consumers_insert_lanes, consumer_id, lanes);
  crash_point("before_build_commit");
  transaction.commit();
  crash_point("after_build_commit");
  logger("feed")->info("{}: its tables are built", projection.name);
  return true;
}

/// Notes that the session's role cannot build tables.
void note_that_owner_is_needed(postgres::Session& session) {
  const std::string reason =
      "only the owner of the tables can build it: run `skua consumers run` or `skua consumers "
      "run-until-idle` as that role";
  for (const auto& name : session.query<std::string>(sql::consumers_need_owner, reason)) {
    logger("feed")->warn("{}: {}", name, reason);
  }
}

/// Stores and logs that the upkeep of one consumer failed. The upkeep of this consumer is repeated
/// after a minute, and other consumers continue. The caller handles failures of the server.
void note_failure(postgres::Session& session, std::int32_t consumer_id, std::string_view name,
                  std::string_view what, const postgres::SqlError& error, const Problem& code) {
  session.execute(sql::consumers_upkeep_failed, consumer_id,
                  fmt::format("{}{}", what, error.what()));
  logger("feed")->error("{}: {}{}", name, what, with_code(error.what(), code));
}

/// Returns whether a failure ends the work for all consumers. Such a failure is one of the server,
/// or a statement that the end of the process canceled.
bool ends_upkeep(const postgres::SqlError& error, const std::stop_token& stop) {
  return failed_work(error) == FailedWork::Server ||
         (stop.stop_requested() && error.sqlstate() == postgres::kQueryCanceled);
}

/// Returns true if a statement took longer than a quick workload may hold its thread. Then the
/// projection is slow, and the upkeep has not failed.
bool is_left_to_slow(const Workload& workload, std::int32_t consumer_id, std::string_view name,
                     const postgres::SqlError& error) {
  if (!workload.is_quick() || error.sqlstate() != postgres::kQueryCanceled) return false;
  SlowProjections& slow = *workload.slow.front();
  slow.note(consumer_id, slow.quick());
  logger("feed")->info("{}: its upkeep takes long, so the thread for slow projections does it",
                       name);
  return true;
}

/// Returns false if the consumer was removed meanwhile.
bool exchange(postgres::Session& session, const Projection& projection, std::int32_t consumer_id,
              std::int32_t lanes, Publication publication) {
  postgres::Transaction transaction(session);
  const auto former = lock_published(session, projection);
  const ProjectionRef shown = used_projection(session, projection.name);
  fold_to_end(session, projection, consumer_id, lanes);
  session.execute(sql::consumers_retire_live, projection.name);
  if (session.execute(sql::consumers_make_live, consumer_id).affected() != 1) return false;
  session.execute(sql::consumers_resolve_letters, projection.name, consumer_id);
  show_tables(session, projection, consumer_id);
  if (projection.own && shown != nullptr) drop_former_views(session, *shown, projection);
  if (publication == Publication::Differences) {
    publish_tables(session, projection, former, consumer_id);
  } else {
    rebuild_dependents(session, projection);
  }
  crash_point("before_exchange_commit");
  transaction.commit();
  crash_point("after_exchange_commit");
  return true;
}

/// Returns false if another session works on the consumer.
bool drop_retired(postgres::Session& session, std::int32_t consumer_id, const std::string& name,
                  const std::string& definition) {
  postgres::Transaction transaction(session);
  if (session.execute(sql::consumers_lock_retired, consumer_id).empty()) return false;
  // A session that applies a batch holds the lock of its lane, so this statement waits for the
  // batch.
  session.execute(sql::consumers_lock_lanes, consumer_id);
  if (const auto views = dependents_of_tables(session, name, definition, consumer_id);
      !views.empty()) {
    throw postgres::SqlError(fmt::format("views read them (`{}`)", views),
                             std::string(kDependentObjects));
  }
  const Projection* const built_in = definition.empty() ? find_projection(name) : nullptr;
  if (built_in != nullptr) {
    drop_tables(session, *built_in, consumer_id);
  } else {
    // The text of a projection of a user may have been removed.
    drop_own_objects(session, consumer_id);
  }
  session.execute(sql::consumers_delete, consumer_id);
  transaction.commit();
  return true;
}

/// Calls `work` for each consumer until it succeeds for one. If the tables of a consumer are
/// locked, the next call tries this consumer again. Returns false if `work` succeeded for no
/// consumer.
template <class Work>
bool for_one_of(postgres::Session& session, const std::vector<DueConsumer>& consumers,
                std::string_view failure, const Problem& code, const std::stop_token& stop,
                const Workload& workload, Work&& work) {
  if (consumers.empty()) return false;
  session.limit_lock_waits(kExchangePatience);
  bool succeeded = false;
  for (const DueConsumer& consumer : consumers) {
    if (succeeded) break;
    if (!workload.takes(consumer.id)) continue;
    try {
      succeeded = work(consumer);
    } catch (const postgres::SqlError& error) {
      if (ends_upkeep(error, stop)) throw;
      if (error.sqlstate() == postgres::kLockNotAvailable) continue;
      if (is_left_to_slow(workload, consumer.id, consumer.name, error)) continue;
      note_failure(session, consumer.id, consumer.name, failure, error, code);
    }
  }
  session.limit_lock_waits(postgres::kLockPatience);
  return succeeded;
}

}  // namespace

bool maintain_projections(postgres::Session& session, ConsumerMetrics& metrics,
                          const std::stop_token& stop, const Workload& workload) {
  if (!may_change_tables(session)) {
    note_that_owner_is_needed(session);
    return false;
  }
  return build_projection(session, metrics, stop, workload) ||
         exchange_projection(session, stop, workload) ||
         drop_retired_projection(session, stop, workload);
}

bool build_projection(postgres::Session& session, ConsumerMetrics& metrics,
                      const std::stop_token& stop, const Workload& workload) {
  for (const auto& [id, name, definition, lanes, is_built] :
       session.query<DueBuild>(sql::consumers_next_to_build, workload.is_own)) {
    if (!workload.takes(id)) continue;
    const ProjectionRef projection = projection_of(session, name, definition);
    if (projection == nullptr) continue;
    try {
      if (!is_built) {
        if (!build(session, *projection, id, lanes)) continue;
        metrics.builds += 1;
      }
      set_running(session, id);
      return true;
    } catch (const postgres::SqlError& error) {
      if (ends_upkeep(error, stop)) throw;
      if (is_left_to_slow(workload, id, name, error)) continue;
      // ConsumerJudgement says that the build failed.
      note_failure(session, id, projection->name, "", error, problem("consumer-stuck"));
    } catch (const std::invalid_argument& error) {
      note_failure(session, id, projection->name, "", postgres::SqlError(error.what(), ""),
                   problem("consumer-stuck"));
    }
  }
  return false;
}

bool exchange_projection(postgres::Session& session, const std::stop_token& stop,
                         const Workload& workload) {
  const auto due =
      session.query<DueConsumer>(sql::consumers_next_to_exchange, workload.is_own, kNearEnd);
  return for_one_of(
      session, due, "its new tables do not replace the present ones: ", problem("consumer-stuck"),
      stop, workload, [&](const DueConsumer& consumer) {
        const ProjectionRef projection = projection_of(session, consumer.name, consumer.definition);
        if (projection == nullptr) return false;
        const bool exchanged = with_publication([&](Publication publication) {
          return exchange(session, *projection, consumer.id, consumer.lanes, publication);
        });
        if (exchanged) {
          logger("feed")->info("{}: its view shows the new tables", projection->name);
        }
        return exchanged;
      });
}

bool drop_retired_projection(postgres::Session& session, const std::stop_token& stop,
                             const Workload& workload) {
  const auto due = session.query<DueConsumer>(sql::consumers_retired, workload.is_own);
  return for_one_of(session, due, "its former tables are not dropped: ", problem("former-tables"),
                    stop, workload, [&](const DueConsumer& consumer) {
                      return drop_retired(session, consumer.id, consumer.name, consumer.definition);
                    });
}

void check_consumer(postgres::Session& session, const Consumer& consumer, std::int32_t keys,
                    ConsumerMetrics& metrics, const std::stop_token& stop,
                    const Workload& workload) {
  // A failing consumer already shows its reason, so a check would add nothing.
  if (consumer.role != "live" || consumer.paused || failing_lane(consumer) != nullptr) return;
  try {
    if (consumer.is_own) {
      // A complete comparison each minute would cost too much.
      const ProjectionRef projection = used_projection(session, consumer.name);
      if (projection == nullptr || !projection->own->has_samples()) return;
    }
    if (check_projection(session, consumer.name, keys, metrics)) {
      session.execute(sql::consumers_upkeep_works, consumer.id);
    }
  } catch (const ConsumerError&) {
    // Groups have moved, so there is nothing to compare.
  } catch (const postgres::SqlError& error) {
    if (ends_upkeep(error, stop)) throw;
    if (is_left_to_slow(workload, consumer.id, consumer.name, error)) return;
    note_failure(session, consumer.id, consumer.name,
                 "its tables cannot be compared with the records: ", error,
                 problem("consumer-stuck"));
  }
}

void rebuild_old_versions(postgres::Session& session) {
  for (const Consumer& consumer : read_consumers(session)) {
    const Projection* built_in = find_projection(consumer.name);
    if (!consumer.is_own && built_in == nullptr) continue;
    // A newer version of a user replaces a build that failed, too.
    const bool has_failed = consumer.is_own && !consumer.error.empty();
    if (consumer.role != "live" && !has_failed) continue;
    const auto newest = consumer.is_own ? consumer.newest_version : built_in->version;
    if (consumer.version == newest) continue;
    try {
      rebuild_consumer(session, consumer.name);
    } catch (const ConsumerError& error) {
      // Another command removed the consumer meanwhile.
      logger("feed")->info("{}: not rebuilt: {}", consumer.name, error.what());
    }
  }
}

std::optional<std::vector<std::string>> check_projection(postgres::Session& session,
                                                         const std::string& name,
                                                         std::optional<std::int32_t> keys,
                                                         ConsumerMetrics& metrics) {
  std::vector<std::string> differences;
  try {
    // The transaction is rolled back. Its snapshot does not have the end of the log, so it cannot
    // append to the log.
    postgres::Transaction transaction(session);
    session.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    const auto live = session.query_first<LiveConsumer>(sql::consumers_live, name);
    if (!live || (keys && live->behind.value_or(0) > kNearEnd)) return std::nullopt;
    const ProjectionRef projection = projection_of(session, name, live->definition);
    if (projection == nullptr) return std::nullopt;
    if (live->has_moved) {
      throw ConsumerError(fmt::format(
          "groups of accounts have moved to or from this node since {0} was built, and their "
          "records still count on the node that they left. `skua consumers rebuild {0}` on both "
          "nodes changes that",
          name));
    }
    if (projection->own && !(keys && projection->own->has_samples())) {
      // A complete comparison reads all records.
      session.run(
          "SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL "
          "enable_mergejoin = on");
    }
    if (!fold_everything(session, *projection, live->id, live->lanes)) return std::nullopt;
    std::optional<StatementLimit> limit;
    if (projection->own) limit.emplace(session, projection->own->limits.build);
    differences =
        session.query<std::string>({fmt::format("differences_{}", live->id),
                                    sql_for(*projection, live->id, projection->differences)},
                                   keys);
  } catch (const postgres::ServerError& error) {
    // Another session has moved a lane since the snapshot, or works on the lane now.
    if (error.sqlstate() != postgres::kSerializationFailure &&
        error.sqlstate() != postgres::kLockNotAvailable) {
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

}  // namespace skua::consumers
