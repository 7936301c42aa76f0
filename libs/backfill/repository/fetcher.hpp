#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "backfill/hosts/host_limits.hpp"
#include "backfill/hosts/spool_budget.hpp"
#include "backfill/queue/due_jobs.hpp"
#include "backfill/queue/job_leases.hpp"
#include "backfill/queue/job_results.hpp"
#include "backfill/queue/job_table.hpp"
#include "backfill/repository/fetched_repository.hpp"
#include "backfill/repository/held_car.hpp"
#include "base/time.hpp"
#include "store/session.hpp"
#include "transport/http_client.hpp"

namespace skua::backfill {

/// The longest CAR that is downloaded, unless told otherwise.
inline constexpr std::size_t kLargestRepository = std::size_t{2} << 30;

/// What a fetcher did since it started. Any thread; each only grows, but those that say otherwise.
struct FetchCounters {
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> repositories{0};
  std::atomic<std::uint64_t> failed{0};
  /// Jobs that are not tried again.
  std::atomic<std::uint64_t> given_up{0};
  std::atomic<std::uint64_t> unavailable{0};
  std::atomic<std::uint64_t> postponed{0};
  /// Of CARs that are in memory, or mapped, at this moment; those that are coming included.
  std::atomic<std::size_t> held_bytes{0};
  /// Jobs that were claimed and have not ended, at this moment.
  std::atomic<std::size_t> in_hand{0};
};

/// Claims jobs as hosts and memory allow, finds out who signs for them and where they live, and
/// fetches their CARs, from hosts or from files. What comes of a job is written down here, but for
/// its success. Drives everything from one thread with a database session of its own; requests are
/// the HTTP client's.
class Fetcher {
 public:
  struct Options {
    std::string database_url;
    /// Names this process in jobs (JobTable): the name of the session that this keeps.
    std::string holder;
    /// Empty: signatures are not checked, and hosts are where jobs say.
    FindDocument find_document;
    /// Empty: the error's own message.
    DocumentFailure document_failure = {};
    /// False: documents are asked for to find hosts only.
    bool verify = true;
    HostLimitsOptions limits;
    /// How much of CARs may be held before the next is fetched.
    std::size_t held_bytes = std::size_t{256} << 20;
    std::size_t largest_repository = kLargestRepository;
    /// How much of the disk CARs may take that are too large for memory.
    std::uint64_t spooled_bytes = std::uint64_t{16} << 30;
    /// What a download must bring a second, over half a minute, and on average when it takes long.
    std::uint64_t slowest = 64 * 1024;
    std::uint64_t slowest_on_average = 128 * 1024;
    /// Whether repositories that wait for a resync are queued by themselves.
    bool resync = false;
    /// Works on the jobs of these accounts alone; empty: on all.
    std::vector<std::string> only = {};
    /// Attempts after which a job is given up.
    int max_attempts = kMaxAttempts;
    /// Where CARs go.
    std::function<void(FetchedRepository)> sink;
    std::function<void(const std::string& what)> on_defect;
  };

  /// The client and the clock outlive it. `clock`: by which jobs are due and leased, in the
  /// database; deadlines of this process go by the steady clock.
  Fetcher(Options options, transport::HttpClient& http, const Clock& clock);
  ~Fetcher();

  void start();
  /// The thread claims no more jobs and ends soon.
  void request_stop();
  /// Ends the thread and gives the jobs back that have not ended. Requests under way must have been
  /// ended before, by stopping their client. Idempotent.
  void stop();

  // What became of a job that was handed on. Any thread. A file is not tried again: it stays as it
  // is.
  void failed(const Job& job, const std::string& words);
  void other_key(FetchedRepository fetched);
  /// Done, or no longer ours.
  void ended(std::size_t jobs);

  /// Looks for new jobs at once.
  void notify();

  /// True when the queue (of `only`) is empty, waiting jobs included, and none is in hand.
  bool is_idle() const { return idle_; }
  const FetchCounters& counters() const { return counters_; }
  /// The busiest hosts.
  std::vector<HostMetrics> hosts() const;

 private:
  using Task = std::function<void()>;
  using SteadyClock = std::chrono::steady_clock;

  void run(const std::stop_token& stop);
  void step();
  /// Has the thread do it.
  void post(Task task);
  void run_tasks();
  void flush();
  void keep_leases();
  void queue_resyncs();
  void queue_rare_retries();
  std::vector<Job> claim(const Place& place, std::size_t limit);
  /// Whether more jobs may be claimed, by the memory and the number of jobs in hand.
  bool has_room() const;
  bool claim_unknown();
  bool claim_files();
  bool claim_hosts();
  /// Takes claimed jobs in hand, with what is known of their repositories.
  std::vector<FetchedRepository> take_in_hand(std::vector<Job> jobs);

  void find_host(FetchedRepository fetched);
  void open_file(FetchedRepository fetched);
  /// Finds the account's document, if signatures are checked, and goes on with it on the thread.
  void with_document(FetchedRepository fetched, bool fresh,
                     std::function<void(FetchedRepository)> next);
  void ask_document(FetchedRepository fetched, bool fresh,
                    std::function<void(FetchedRepository)> next);
  void no_document(const FetchedRepository& fetched, const ErrorCode& error);
  void download(FetchedRepository fetched);
  void downloaded(FetchedRepository fetched, Result<transport::HttpAnswer> answer,
                  std::shared_ptr<HeldCar> held, SteadyClock::time_point started_at);
  /// The host's final answer is that it has no such repository to give.
  void not_here(FetchedRepository fetched, const std::string& words);
  void hand_on(FetchedRepository fetched, const std::shared_ptr<HeldCar>& held,
               std::shared_ptr<const void> bytes);
  std::shared_ptr<HeldCar> held_car(const std::string& site);
  /// The busiest hosts, with times as others see them.
  std::vector<HostMetrics> host_metrics() const;
  /// A job's place at its host is free again.
  void free_place(const FetchedRepository& fetched, HostOutcome outcome);
  store::Session& session();

  const Options options_;
  transport::HttpClient& http_;
  const Clock& clock_;
  const Clock& pace_ = monotonic_clock();
  FetchCounters counters_;
  SpoolBudget disk_;
  std::atomic<bool> idle_{false};

  // The thread's own.
  std::unique_ptr<store::Session> session_;
  HostLimits limits_;
  std::vector<JobError> failed_;
  /// Those that another try would not help.
  std::vector<JobError> hopeless_;
  std::vector<JobError> unavailable_;
  std::vector<JobError> postponed_;
  std::vector<JobHost> moved_;
  std::string last_host_;
  /// As it was stored when jobs were last taken in hand.
  std::shared_ptr<const store::Filter> filter_;
  /// Jobs in hand whose host is being looked for.
  std::size_t finding_hosts_ = 0;
  /// Whom the person who runs this named: any address is meant.
  std::vector<std::string> operator_hosts_;
  bool took_orphans_ = false;
  // By `pace_`, as all times of `limits_`.
  Timestamp next_lease_;
  Timestamp next_resync_;
  Timestamp next_rare_retries_;
  Timestamp next_claim_;

  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::vector<Task> tasks_;
  bool notified_ = false;
  std::vector<HostMetrics> host_metrics_;
  std::jthread thread_;
};

}  // namespace skua::backfill
