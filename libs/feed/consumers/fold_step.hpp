#pragma once

#include <cstdint>
#include <string>

#include "base/metric.hpp"
#include "store/session.hpp"

namespace skua::feed {

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
  /// The consumer to work on; empty: any.
  std::string only = {};
  /// Does not wait for changes to collect.
  bool ignores_pause = false;
};

/// What a step did.
enum class StepResult : std::uint8_t { Worked, Idle };

/// Applies one batch: chooses the lane that waits longest, and that no other session works on,
/// folds its next changes into the tables of its projection, and moves its position, all in one
/// transaction. A batch that PostgreSQL refuses because of its data is halved until the change is
/// alone; after `max_attempts` the policy of the consumer applies. After any other error that
/// concerns the consumer its lane waits, and other consumers continue. Any number of sessions of
/// any processes may call it. During a bootstrap it does nothing. Throws store::SqlError for
/// failures of the server, and if it cannot choose a lane.
StepResult fold_step(store::Session& session, ConsumerMetrics& metrics,
                     const FoldOptions& options = {});

/// For a session that calls `fold_step`: the planner may join the parts of a statement by hash, and
/// commits do not wait for the disk. A crash of the server may take back the last batches. Their
/// positions go with them, so that they are repeated.
void prepare_fold_session(store::Session& session);

}  // namespace skua::feed
