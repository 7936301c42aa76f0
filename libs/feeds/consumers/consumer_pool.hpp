#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "consumers/fold_step.hpp"
#include "postgres/session_thread.hpp"

namespace skua::consumers {

/// Runs the consumers of a database: threads apply batches, and one thread builds, exchanges,
/// checks and drops the tables of projections. Several processes may run a pool for the same
/// database. While the database is down all threads wait. Owned by one thread.
class ConsumerPool {
 public:
  struct Options {
    /// The number of threads that apply batches. With 0 the pool does nothing.
    std::size_t threads = 2;
    /// The time between two rounds of upkeep.
    std::chrono::milliseconds upkeep_interval{1'000};
    /// The time between two checks of each projection.
    std::chrono::milliseconds check_interval{60'000};
  };

  ConsumerPool(postgres::Runtime& runtime, Options options);

  void start();
  /// Waits for the end of the current batches and interrupts a build. Idempotent.
  void stop();

  const ConsumerMetrics& metrics() const { return metrics_; }

 private:
  std::chrono::milliseconds work(postgres::LazySession& session, const std::stop_token& stop);
  std::chrono::milliseconds maintain(postgres::LazySession& session, const std::stop_token& stop);

  postgres::Runtime& runtime_;
  const Options options_;
  ConsumerMetrics metrics_;
  /// The pause of an idle thread.
  std::atomic<std::chrono::milliseconds> idle_pause_{std::chrono::milliseconds(100)};
  std::chrono::steady_clock::time_point next_check_;
  /// The server process of the upkeep session while it works; 0 while it waits.
  std::atomic<int> upkeep_pid_{0};
  postgres::SessionThread upkeep_;
  std::vector<std::unique_ptr<postgres::SessionThread>> workers_;
};

}  // namespace skua::consumers
