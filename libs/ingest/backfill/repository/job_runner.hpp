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

/// The threads that check repositories and decode them for the workers. Each thread works on one
/// repository at a time.
class ReaderThreads {
 public:
  explicit ReaderThreads(std::size_t threads);
  ~ReaderThreads();

  /// The awaiter that `enter` returns.
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

  /// Returns an awaiter. A coroutine that awaits it continues on one of the threads, in the order
  /// of the calls. After `stop` the coroutine does not continue. Any thread may call it.
  Entry enter() { return Entry(*this); }

  /// Returns a token that ends a wait on one of the threads at a stop.
  std::stop_token stop_token() const { return stop_.get_token(); }
  /// Returns the number of coroutines that wait for a thread.
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

/// The size of the longest CAR that is downloaded, unless an option sets another limit.
inline constexpr std::size_t kLargestRepository = std::size_t{2} << 30;

struct DownloadLimits {
  std::size_t largest_repository = kLargestRepository;
  /// The minimum bytes that a download must transfer in a second: `slowest` over half a minute, and
  /// `slowest_on_average` if the download takes long.
  std::uint64_t slowest = 64 * 1024;
  std::uint64_t slowest_on_average = 128 * 1024;
};

/// The parts that the steps of all jobs use. All parts outlive the jobs.
struct JobServices {
  /// If it is empty, signatures are not checked, and each job names its own host.
  FindAccount find_account = nullptr;
  /// If it is empty, the error's own message is used.
  AccountFailure account_failure = nullptr;
  /// Whether signatures are checked. If not, documents are looked up only to find hosts.
  bool verify = true;
  DownloadLimits download = {};
  transport::HttpClient& http;
  /// The disk space of CARs that are too large for memory.
  SpoolBudget& disk;
  ReaderThreads& readers;
  UnfinishedRepositories& unfinished;
  BackfillCounters& counters;
  /// The clock for the times of revisions.
  const Clock& clock;
  /// The clock for the times of jobs.
  const Clock& jobs_clock;
  /// The origin of the chunks' events (UnresolvedEvent::origin).
  std::uint32_t origin = 0;
  /// Passes a chunk to its worker. Any thread may call it.
  std::function<void(event::Chunk)> push_chunk = nullptr;
};

/// Runs jobs (run_job) on a thread with a database session of its own. It starts the jobs that the
/// scheduler leases, resumes the jobs whose wait is over, and writes the ends of jobs.
class JobRunner {
 public:
  struct Options {
    /// The lease owner (see job_table.hpp), which is the name of the session.
    std::string lease_owner = {};
    HostLimitsOptions limits = {};
    /// The following options are options of the scheduler (see Scheduler::Options).
    std::size_t held_bytes = std::size_t{256} << 20;
    bool resync = false;
    std::vector<std::string> only = {};
    /// The number of attempts after which a job fails permanently.
    int max_attempts = kMaxAttempts;
  };

  /// The parts that the services refer to outlive the runner.
  JobRunner(postgres::Runtime& runtime, Options options, JobServices services);
  ~JobRunner();

  void start();
  /// Makes the thread end soon. It leases no more jobs.
  void request_stop();
  /// Ends the thread, and queues the jobs again that have not ended. The requests, the reader
  /// threads and the finisher must have been stopped before. Idempotent.
  void stop();

  /// Makes the thread look for new jobs at once. Any thread may call it.
  void notify();

  /// Whether no job (of `only`) is queued or running. Waiting jobs count as queued. Any thread may
  /// call it.
  bool is_idle() const { return is_idle_; }
  /// Returns the busiest hosts. Any thread may call it.
  std::vector<HostMetrics> hosts() const;

 private:
  std::chrono::milliseconds round(postgres::LazySession& session);
  void start_job(LeasedJob leased);
  void job_ended(const Job& job, JobEnd end);

  postgres::Runtime& runtime_;
  const Options options_;
  const JobServices services_;
  // Only the runner's thread uses these members.
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
