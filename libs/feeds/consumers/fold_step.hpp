#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/metric.hpp"
#include "consumers/projections/projection.hpp"
#include "consumers/workload.hpp"
#include "postgres/session.hpp"
#include "postgres/sql_error.hpp"

namespace skua::consumers {

/// The cause of an SQL error in the work for one consumer. The cause determines how the work
/// continues.
enum class FailedWork : std::uint8_t {
  /// The server or the connection caused the error (classes 08, 53 and 57P, a read-only server):
  /// nothing is stored, and the work of all consumers is repeated.
  Server,
  /// A change may have caused the error (classes 22, 23, 54 and P0, and 57014 for a batch that
  /// takes
  /// too long): the batch is halved until the change is alone.
  Change,
  /// Another session caused the error (class 40, 55P03): the consumer waits, and tries again.
  Lock,
  /// The tables of the consumer, its statements or a missing right caused the error (all other
  /// classes). Mostly it occurs with any changes. It counts as an attempt, as that of a change.
  Tables,
};

/// Classifies an SQL error. Pure.
FailedWork failed_work(const postgres::SqlError& error);

/// Classifies an SQL error of a statement of a user. The data can also cause an error of class 21
/// (two rows for one key), 53200 and 53400 (a limit of memory or of temporary files), and XX000 (a
/// value that is too large). Pure.
FailedWork failed_own_work(const postgres::SqlError& error);

/// Changes that a lane of a projection applies in one transaction.
struct Batch {
  std::int32_t consumer_id = 0;
  std::string name;
  std::int32_t lane = 0;
  std::int32_t lanes = 0;
  std::int64_t first = 0;
  /// The position after the last change of the batch.
  std::int64_t end = 0;
  /// The time that a statement of a user may take, if it is shorter than that of the file.
  std::optional<std::chrono::milliseconds> most = std::nullopt;
};

/// Applies the changes to the tables. All functions below throw postgres::SqlError.
void apply_changes(postgres::Session& session, const Projection& projection, const Batch& batch);

/// Applies the changes to the tables and moves the position of the lane to `batch.end`. The
/// transaction of the caller has locked the lane.
void fold_batch(postgres::Session& session, const Projection& projection, const Batch& batch);

/// Does a limited part of the work that waits in the queues of the projection. The transaction of
/// the caller has locked the lane. The position and the failures of the lane stay unchanged.
void drain_queues(postgres::Session& session, const Projection& projection, const Batch& batch);

/// Moves the position of a lane and clears its failures.
void advance_lane(postgres::Session& session, std::int32_t consumer_id, std::int32_t lane,
                  std::int64_t position);

/// Metrics of the consumers that this process runs. Any thread.
struct ConsumerMetrics {
  Counter batches{"consumer_batches", "skua_consumer_batches_total", "batches",
                  "Batches of changes that consumers applied"};
  Counter changes{"consumer_changes", "skua_consumer_changes_total", "changes",
                  "Changes that consumers read"};
  Counter failures{"consumer_failures", "skua_consumer_failures_total", "failures",
                   "Batches that failed and were repeated, in smaller parts if possible"};
  Counter builds{"consumer_builds", "skua_consumer_builds_total", "builds",
                 "Builds and rebuilds of projections that finished"};
  Counter differences{"consumer_differences", "skua_consumer_differences_total", "rows",
                      "Rows of projections that differed from the records in a check"};
};

struct FoldOptions {
  /// The name of the only consumer to work on; empty for any consumer.
  std::string only = {};
  /// True if the step does not wait until more changes have collected.
  bool ignores_pause = false;
  /// Called after the commit of each batch; may be null.
  std::function<void(const Batch&)> applied = nullptr;
  /// The consumers among which the step chooses.
  Workload workload = {};
};

/// Says whether a step applied a batch or found none.
enum class StepResult : std::uint8_t { Worked, Idle };

/// Applies one batch: chooses the lane that has waited longest and that no other session works on,
/// folds its next changes into the tables of its projection, and moves its position, all in one
/// transaction. A batch that fails because of its data, the tables or a right is halved until the
/// change is alone; after `max_attempts` the policy of the consumer applies. If another session
/// holds a lock, the lane waits. Work of a queue belongs to no change, so that the policy `skip`
/// cannot skip it: then the lane waits, too. Other consumers continue. Any number of sessions of
/// any processes may call this function; they work on at most `processors` lanes of a consumer at
/// the same time. During a bootstrap it does nothing. With a workload of quick projections, a batch
/// that takes too long is rolled back, and its projection is slow: a step of a workload of slow
/// projections applies the batch. Such steps work on one lane of a projection at a time. Throws
/// postgres::SqlError for failures of the server, and if it cannot choose a lane.
StepResult fold_step(postgres::Session& session, ConsumerMetrics& metrics,
                     const FoldOptions& options = {});

/// Prepares a session that calls `fold_step`: the planner may join the parts of a statement by
/// hash, and commits do not wait for the disk. A crash of the server may lose the last batches
/// together with their positions, so that the batches are repeated.
void prepare_fold_session(postgres::Session& session);

}  // namespace skua::consumers
