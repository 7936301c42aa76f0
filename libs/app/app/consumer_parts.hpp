#pragma once

#include <cstddef>
#include <vector>

#include "base/metric.hpp"
#include "consumers/consumer_pool.hpp"
#include "consumers/log_maintenance.hpp"
#include "consumers/messages/message_sequencer.hpp"
#include "postgres/runtime.hpp"

namespace skua::app {

/// The parts of a process that keep projections up to date: the pool of consumers, the maintenance
/// of the change log, and the sequencer of own messages. `skua run`, `skua consumers run` and
/// `skua serve --consumers` have them. Any number of processes may have them for the same database.
/// Owned by one thread.
class ConsumerParts {
 public:
  /// `threads` is that of ConsumerPool: with 0 this process applies no changes to projections.
  ConsumerParts(postgres::Runtime& runtime, std::size_t threads);

  void start();
  /// Waits for the end of the current batches. Idempotent.
  void stop();

  const consumers::ConsumerMetrics& pool_metrics() const { return pool_.metrics(); }
  /// Returns the metrics of all parts. Any thread.
  std::vector<MetricValue> metrics() const;

 private:
  consumers::LogMaintenance log_maintenance_;
  consumers::MessageSequencer messages_;
  consumers::ConsumerPool pool_;
};

}  // namespace skua::app
