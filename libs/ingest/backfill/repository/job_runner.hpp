#pragma once

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "backfill/backfill_counters.hpp"
#include "backfill/hosts/host_limits.hpp"
#include "backfill/queue/job_leases.hpp"
#include "backfill/queue/job_outcomes.hpp"
#include "backfill/queue/job_table.hpp"
#include "backfill/queue/scheduler.hpp"
#include "backfill/repository/held_car.hpp"
#include "backfill/repository/job_task.hpp"
#include "backfill/repository/unfinished_repositories.hpp"
#include "base/bounded_queue.hpp"
#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "postgres/session.hpp"
#include "postgres/session_thread.hpp"
#include "transport/http_client.hpp"

namespace skua::backfill {

/// The threads that check repositories and decode them for the workers: each works on one
/// repository at a time.
class ReaderThreads {
 public:
  explicit ReaderThreads(std::size_t threads);
  ~ReaderThreads();

  /// See `enter`.
  class Entry {
   public:
    explicit Entry(ReaderThreads& threads) : threads_(threads) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) const {
      threads_.queue_.push(Continuation(handle));
    }
    void await_resume() const noexcept {}

   private:
    ReaderThreads& threads_;
  };

  /// A coroutine that awaits it continues on one of the threads, in the order of the calls. Any
  /// thread. After `stop` it does not continue.
  Entry enter() { return Entry(*this); }

  /// Ends a wait on one of the threads at a stop.
  std::stop_token stop_token() const { return stop_.get_token(); }
  /// Coroutines that wait for a thread.
  std::size_t queued() const { return queue_.size(); }

  /// Ends each thread when its coroutine suspends or ends. Coroutines that still wait for a thread
  /// are destroyed with this object. Idempotent.
  void stop();

 private:
  void run();

  std::stop_source stop_;
  BoundedQueue<Continuation> queue_;
  std::vector<std::jthread> threads_;
};

/// The longest CAR that is downloaded, unless an option says otherwise.
inline constexpr std::size_t kLargestRepository = std::size_t{2} << 30;

struct DownloadLimits {
  std::size_t largest_repository = kLargestRepository;
  /// The least that a download must transfer in a second: over half a minute, and on average if it
  /// takes long.
  std::uint64_t slowest = 64 * 1024;
  std::uint64_t slowest_on_average = 128 * 1024;
};

/// What the steps of all jobs use. All of it outlives the jobs.
struct JobServices {
  /// Empty: signatures are not checked, and a job's host is the one that it names.
  FindAccount find_account = nullptr;
  /// Empty: the error's own message.
  AccountFailure account_failure = nullptr;
  /// False: documents are looked up to find hosts only.
  bool verify = true;
  DownloadLimits download = {};
  transport::HttpClient& http;
  /// The disk space of CARs that are too large for memory.
  SpoolBudget& disk;
  ReaderThreads& readers;
  UnfinishedRepositories& unfinished;
  BackfillCounters& counters;
  /// For the times of revisions.
  const Clock& clock;
  /// For the times of jobs.
  const Clock& jobs_clock;
  /// Of the chunks' events (UnresolvedEvent::origin).
  std::uint32_t origin = 0;
  /// Passes a chunk to its worker. Any thread.
  std::function<void(event::Chunk)> push_chunk = nullptr;
};

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
  JobRunner(postgres::Runtime& runtime, Options options, JobServices services);
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
  std::chrono::milliseconds round(postgres::LazySession& session);
  void start_job(LeasedJob leased);
  void job_ended(const Job& job, JobEnd end);

  postgres::Runtime& runtime_;
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
  postgres::SessionThread thread_;
  TaskQueue tasks_;
};

}  // namespace skua::backfill
