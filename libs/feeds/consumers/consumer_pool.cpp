#include "consumers/consumer_pool.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "consumers/consumer_replays.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/own/projection_catalog.hpp"
#include "consumers/projection_upkeep.hpp"
#include "consumers/tuning.hpp"
#include "postgres/connection_string.hpp"

namespace skua::consumers {
namespace {

using std::chrono::milliseconds;

/// A thread applies this number of batches before it checks whether it must stop.
constexpr int kStepsOfRound = 100;
/// Idle threads pause for this time while no consumer runs.
constexpr milliseconds kWithoutConsumers{1'000};
/// A check compares this number of rows of a projection.
constexpr std::int32_t kCheckedRows = 50;

/// Returns the pause of threads without work, which the projection with the shortest one
/// determines.
milliseconds idle_pause(const std::vector<Consumer>& consumers) {
  milliseconds pause = kWithoutConsumers;
  for (const Consumer& consumer : consumers) {
    if (consumer.kind != "projection" || consumer.state != "running" || consumer.paused) continue;
    pause = std::min(pause, tuning_of(consumer.profile, consumer.overrides).idle);
  }
  return std::max(pause, milliseconds(1));
}

}  // namespace

ConsumerPool::ConsumerPool(postgres::Runtime& runtime, Options options)
    : runtime_(runtime), options_(options) {
  for (const bool is_own : {false, true}) {
    upkeep_[is_own ? 1 : 0] = worker(
        is_own ? "skua own projections" : kProjectionsSession, "projections are not built",
        [this, is_own](postgres::Session& session, const std::stop_token& stop) {
          return maintain(session, stop, is_own);
        },
        is_own);
    auto& workers = is_own ? own_workers_ : workers_;
    for (std::size_t i = 0; i < options_.threads; ++i) {
      workers.push_back(worker(
          is_own ? "skua own consumers" : "skua consumers", "consumers read no changes",
          [this, is_own](postgres::Session& session, const std::stop_token& stop) {
            return work(session, stop, is_own);
          },
          is_own));
    }
  }
}

std::unique_ptr<ConsumerPool::Worker> ConsumerPool::worker(
    const std::string& session_name, const char* failure,
    std::function<milliseconds(postgres::Session&, const std::stop_token&)> round, bool is_own) {
  auto made = std::make_unique<Worker>();
  made->thread = std::make_unique<postgres::SessionThread>(
      runtime_,
      postgres::SessionThread::Options{.session_name = postgres::process_name(session_name),
                                       .prepare = prepare_fold_session,
                                       .component = "feed",
                                       .failure = failure,
                                       .retries_sql_errors = true},
      [this, is_own, round = std::move(round), &pid = made->pid](postgres::LazySession& lazy,
                                                                 const std::stop_token& stop) {
        if (is_own && !has_own_) return options_.upkeep_interval;
        postgres::Session& session = lazy.get();
        pid = session.backend_pid();
        const milliseconds pause = round(session, stop);
        pid = 0;
        return pause;
      });
  return made;
}

void ConsumerPool::start() {
  if (options_.threads == 0) return;
  for (const auto& upkeep : upkeep_) upkeep->thread->start();
  for (const auto* workers : {&workers_, &own_workers_}) {
    for (const auto& worker : *workers) worker->thread->start();
  }
}

void ConsumerPool::stop() {
  for (const auto& upkeep : upkeep_) upkeep->thread->request_stop();
  for (const auto* workers : {&workers_, &own_workers_}) {
    for (const auto& worker : *workers) worker->thread->request_stop();
  }
  for (const auto& worker : workers_) worker->thread->stop();
  interrupt();
  for (const auto& worker : own_workers_) worker->thread->stop();
  for (const auto& upkeep : upkeep_) upkeep->thread->stop();
}

void ConsumerPool::interrupt() {
  std::string pids;
  const auto add = [&](Worker& worker) {
    const int pid = worker.pid.exchange(0);
    if (pid != 0) pids += (pids.empty() ? "" : ", ") + std::to_string(pid);
  };
  for (const auto& upkeep : upkeep_) add(*upkeep);
  for (const auto& worker : own_workers_) add(*worker);
  if (pids.empty()) return;
  try {
    postgres::Session session(runtime_.database_url, postgres::process_name("skua stop"));
    // The statement selects from pg_stat_activity, because PostgreSQL warns in its log if the
    // process has ended.
    session.run("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid IN (" + pids + ")");
  } catch (const postgres::SqlError& error) {
    logger("feed")->warn("a build cannot be interrupted: {}", error.what());
  }
}

milliseconds ConsumerPool::work(postgres::Session& session, const std::stop_token& stop,
                                bool is_own) {
  for (int i = 0; i < kStepsOfRound && !stop.stop_requested(); ++i) {
    if (fold_step(session, metrics_, {.is_own = is_own}) == StepResult::Idle) {
      return idle_pause_.load();
    }
  }
  return milliseconds(0);
}

milliseconds ConsumerPool::maintain(postgres::Session& session, const std::stop_token& stop,
                                    bool is_own) {
  if (!is_own) rebuild_old_versions(session);
  while (!stop.stop_requested() && maintain_projections(session, metrics_, stop, is_own)) {
  }
  replay_skipped_changes(session, is_own);
  const std::vector<Consumer> consumers = read_consumers(session);
  if (!is_own) {
    idle_pause_ = idle_pause(consumers);
    has_own_ = has_own_projections(session);
  }
  const auto now = std::chrono::steady_clock::now();
  auto& next_check = next_check_[is_own ? 1 : 0];
  if (now >= next_check) {
    next_check = now + options_.check_interval;
    check_consumers(session, consumers, stop, is_own);
  }
  return options_.upkeep_interval;
}

void ConsumerPool::check_consumers(postgres::Session& session,
                                   const std::vector<Consumer>& consumers,
                                   const std::stop_token& stop, bool is_own) {
  for (const Consumer& consumer : consumers) {
    if (stop.stop_requested()) break;
    if (consumer.is_own != is_own) continue;
    check_consumer(session, consumer, kCheckedRows, metrics_, stop);
  }
}

}  // namespace skua::consumers
