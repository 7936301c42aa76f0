#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "consumers/consumer_table.hpp"
#include "consumers/fold_step.hpp"
#include "postgres/session_thread.hpp"

namespace skua::consumers {

/// Runs the consumers of a database: threads apply batches, and one thread builds, exchanges,
/// checks and drops the tables of projections. Projections that users added have the same number of
/// threads of their own, so that a statement of a user that takes long delays no built-in
/// projection. These threads connect only if there are such projections. Several processes may run
/// a pool for the same database. While the database is down all threads wait. Owned by one thread.
class ConsumerPool {
 public:
  struct Options {
    /// The number of threads that apply batches of built-in projections, and of threads that apply
    /// those of users. With 0 the pool does nothing.
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
  /// A thread, and the server process of its session while it works; 0 while it waits.
  struct Worker {
    std::atomic<int> pid{0};
    std::unique_ptr<postgres::SessionThread> thread;
  };

  std::unique_ptr<Worker> worker(
      const std::string& session_name, const char* failure,
      std::function<std::chrono::milliseconds(postgres::Session&, const std::stop_token&)> round,
      bool is_own);
  std::chrono::milliseconds work(postgres::Session& session, const std::stop_token& stop,
                                 bool is_own);
  std::chrono::milliseconds maintain(postgres::Session& session, const std::stop_token& stop,
                                     bool is_own);
  void check_consumers(postgres::Session& session, const std::vector<Consumer>& consumers,
                       const std::stop_token& stop, bool is_own);
  /// Interrupts the statements that the workers execute now.
  void interrupt();

  postgres::Runtime& runtime_;
  const Options options_;
  ConsumerMetrics metrics_;
  /// The pause of an idle thread.
  std::atomic<std::chrono::milliseconds> idle_pause_{std::chrono::milliseconds(100)};
  /// True if the database has a consumer with the projection of a user.
  std::atomic<bool> has_own_{false};
  /// The time of the next check of built-in projections, and of those of users.
  std::chrono::steady_clock::time_point next_check_[2];
  /// The upkeep of built-in projections, and of those of users.
  std::unique_ptr<Worker> upkeep_[2];
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Worker>> own_workers_;
};

}  // namespace skua::consumers
