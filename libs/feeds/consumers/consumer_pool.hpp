#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/fold_step.hpp"
#include "consumers/workload.hpp"
#include "postgres/session_thread.hpp"

namespace skua::consumers {

/// Runs the consumers of a database. It has three groups of threads: one for built-in
/// projections, one for quick projections of users, and one for slow ones. In each group, threads
/// apply batches, and one thread builds, exchanges, checks and drops tables. So a statement of a
/// user that takes long delays no built-in projection, and a projection with such statements delays
/// only others of this kind (SlowProjections). A group without work does not connect. Several
/// processes may run a pool for the same database. While the database is down all threads wait.
/// Owned by one thread.
class ConsumerPool {
 public:
  struct Options {
    /// The number of threads that apply batches of built-in projections, and of those for quick
    /// projections of users. Slow ones have half of this number, at least one. With 0 the pool does
    /// nothing.
    std::size_t threads = 2;
    /// The time between two rounds of upkeep.
    std::chrono::milliseconds upkeep_interval{1'000};
    /// The time between two checks of each projection.
    std::chrono::milliseconds check_interval{60'000};
    /// A projection of a user is slow if a batch takes this time.
    std::chrono::milliseconds quick_batch{1'000};
    /// A projection of a user is slow if a statement of its upkeep, such as a build, takes this
    /// time.
    std::chrono::milliseconds quick_upkeep{60'000};
    /// Outlives the pool.
    const Clock& clock = monotonic_clock();
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

  /// Threads with the same workload.
  struct Group {
    /// For batches.
    Workload batches;
    Workload upkeep;
    /// Whether there is anything to do, so that the threads connect.
    std::function<bool()> has_work;
    /// The time of the next check of its projections.
    std::chrono::steady_clock::time_point next_check = {};
    std::unique_ptr<Worker> upkeep_worker = {};
    std::vector<std::unique_ptr<Worker>> workers = {};

    bool is_built_in() const { return batches.is_own == false; }
  };

  using Round =
      std::function<std::chrono::milliseconds(postgres::Session&, const std::stop_token&)>;

  void fill(Group& group, const std::string& upkeep_name, const std::string& worker_name,
            std::size_t threads);
  std::unique_ptr<Worker> worker(const Group& group, const std::string& session_name,
                                 const char* failure, std::chrono::milliseconds longest,
                                 Round round);
  std::chrono::milliseconds work(const Group& group, postgres::Session& session,
                                 const std::stop_token& stop);
  std::chrono::milliseconds maintain(Group& group, postgres::Session& session,
                                     const std::stop_token& stop);
  void check_consumers(const Group& group, postgres::Session& session,
                       const std::vector<Consumer>& consumers, const std::stop_token& stop);
  /// Interrupts the statements that the workers execute now.
  void interrupt();

  postgres::Runtime& runtime_;
  const Options options_;
  ConsumerMetrics metrics_;
  /// The pause of an idle thread.
  std::atomic<std::chrono::milliseconds> idle_pause_{std::chrono::milliseconds(100)};
  /// True if the database has a consumer with the projection of a user.
  std::atomic<bool> has_own_{false};
  SlowProjections slow_batches_;
  SlowProjections slow_upkeep_;
  Group built_in_;
  Group quick_;
  Group slow_;
  const std::array<Group*, 3> groups_{&built_in_, &quick_, &slow_};
};

}  // namespace skua::consumers
