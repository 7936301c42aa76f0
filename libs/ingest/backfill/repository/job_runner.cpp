#include "backfill/repository/job_runner.hpp"

#include <chrono>
#include <limits>
#include <utility>
#include <variant>

#include "backfill/queue/job_leases.hpp"
#include "backfill/repository/run_job.hpp"
#include "base/log.hpp"
#include "postgres/session.hpp"

namespace skua::backfill {

namespace {

/// The time between two checks for expired leases, due resyncs and due jobs.
constexpr std::chrono::milliseconds kTick{100};

}  // namespace

ReaderThreads::ReaderThreads(std::size_t threads)
    : queue_(std::numeric_limits<std::size_t>::max()) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { run(); });
  }
}

ReaderThreads::~ReaderThreads() {
  stop();
}

void ReaderThreads::stop() {
  queue_.close();
  stop_.request_stop();
  for (std::jthread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void ReaderThreads::run() {
  while (!stop_.stop_requested()) {
    auto next = queue_.pop();
    if (!next) return;
    next->resume();
  }
}

JobRunner::JobRunner(postgres::Runtime& runtime, Options options, JobServices services)
    : runtime_(runtime),
      options_(std::move(options)),
      services_(std::move(services)),
      scheduler_({.lease_owner = options_.lease_owner,
                  .finds_hosts = static_cast<bool>(services_.find_account),
                  .limits = options_.limits,
                  .held_bytes = options_.held_bytes,
                  .resync = options_.resync,
                  .only = options_.only,
                  .start = [this](LeasedJob leased) { start_job(std::move(leased)); }},
                 services_.jobs_clock, monotonic_clock(), services_.counters),
      outcomes_(options_.lease_owner, options_.max_attempts, services_.jobs_clock,
                services_.counters),
      thread_(runtime_,
              {.session_name = options_.lease_owner,
               .component = "backfill",
               .failure = "jobs cannot be taken or ended",
               .keeps_session = true},
              [this](postgres::LazySession& session, const std::stop_token&) {
                return round(session);
              }),
      tasks_([this] { thread_.notify(); }) {}

JobRunner::~JobRunner() {
  stop();
}

void JobRunner::start() {
  is_started_ = true;
  thread_.start();
}

void JobRunner::request_stop() {
  thread_.request_stop();
}

void JobRunner::stop() {
  if (!std::exchange(is_started_, false)) return;
  thread_.stop();
  try {
    // The interrupted jobs are released, because a stop does not count as an attempt.
    release_jobs(thread_.session().get(), options_.lease_owner);
  } catch (const postgres::SqlError& error) {
    logger("backfill")
        ->warn("jobs were not released; they return to the queue when their leases expire: {}",
               error.what());
  }
}

void JobRunner::notify() {
  {
    const std::scoped_lock lock(mutex_);
    is_notified_ = true;
    is_idle_ = false;
  }
  thread_.notify();
}

std::vector<HostMetrics> JobRunner::hosts() const {
  const std::scoped_lock lock(mutex_);
  return hosts_;
}

std::chrono::milliseconds JobRunner::round(postgres::LazySession& session) {
  tasks_.run();
  outcomes_.write(session.get());
  bool is_notified = false;
  {
    const std::scoped_lock lock(mutex_);
    is_notified = std::exchange(is_notified_, false);
  }
  scheduler_.tick(session.get(), is_notified);
  auto hosts = scheduler_.host_metrics();
  const std::scoped_lock lock(mutex_);
  hosts_ = std::move(hosts);
  // A notification that came after the scheduler's tick also means that the runner is not idle.
  is_idle_ = scheduler_.is_idle() && !is_notified_;
  return kTick;
}

void JobRunner::start_job(LeasedJob leased) {
  const Job job = leased.job;
  run_job(services_, scheduler_, tasks_, std::move(leased))
      .start({.on_end = [this, job](JobEnd end) { job_ended(job, std::move(end)); },
              .on_fatal =
                  [this](const std::string& what) {
                    runtime_.fatal("reading repositories: " + what);
                  }});
}

void JobRunner::job_ended(const Job& job, JobEnd end) {
  if (std::holds_alternative<JobStopped>(end)) return;
  tasks_.post([this, job, end = std::move(end)] {
    scheduler_.closed(job);
    outcomes_.add(job.did, end);
  });
}

}  // namespace skua::backfill
