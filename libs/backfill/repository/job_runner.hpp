#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "backfill/hosts/host_limits.hpp"
#include "backfill/queue/job_end.hpp"
#include "backfill/queue/job_outcomes.hpp"
#include "backfill/queue/job_table.hpp"
#include "backfill/queue/leased_job.hpp"
#include "backfill/queue/scheduler.hpp"
#include "backfill/repository/job_services.hpp"
#include "backfill/repository/task_queue.hpp"
#include "base/time.hpp"
#include "store/lazy_session.hpp"
#include "store/session_thread.hpp"

namespace skua::backfill {

/// Runs jobs (run_job) on a thread with a database session of its own: starts those that the
/// scheduler leases, resumes those whose wait is over, and has their ends written.
class JobRunner {
 public:
  struct Options {
    /// The lease owner (see job_table.hpp): the name of the session.
    std::string lease_owner = {};
    HostLimitsOptions limits = {};
    /// See Scheduler::Options.
    std::size_t held_bytes = std::size_t{256} << 20;
    bool resync = false;
    std::vector<std::string> only = {};
    /// Attempts after which a job fails for good.
    int max_attempts = kMaxAttempts;
  };

  /// What the services refer to outlives it.
  JobRunner(store::Runtime& runtime, Options options, JobServices services);
  ~JobRunner();

  void start();
  /// The thread leases no more jobs and ends soon.
  void request_stop();
  /// Ends the thread and queues the jobs again that have not ended. The requests, the reader
  /// threads and the finisher have been stopped before. Idempotent.
  void stop();

  /// Looks for new jobs at once. Any thread.
  void notify();

  /// No job (of `only`) is queued or running, waiting ones included. Any thread.
  bool is_idle() const { return is_idle_; }
  /// The busiest hosts. Any thread.
  std::vector<HostMetrics> hosts() const;

 private:
  std::chrono::milliseconds round(store::LazySession& session);
  void start_job(LeasedJob leased);
  void job_ended(const Job& job, JobEnd end);

  store::Runtime& runtime_;
  const Options options_;
  const JobServices services_;
  // The thread's own.
  Scheduler scheduler_;
  JobOutcomes outcomes_;

  mutable std::mutex mutex_;
  bool is_notified_ = false;
  std::vector<HostMetrics> hosts_;
  std::atomic<bool> is_idle_{false};
  bool is_started_ = false;
  store::SessionThread thread_;
  TaskQueue tasks_;
};

}  // namespace skua::backfill
