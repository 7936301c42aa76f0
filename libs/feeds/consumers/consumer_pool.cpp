#include "consumers/consumer_pool.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "consumers/consumer_replays.hpp"
#include "consumers/consumer_table.hpp"
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
    : runtime_(runtime),
      options_(options),
      upkeep_(runtime,
              {.session_name = postgres::process_name(kProjectionsSession),
               .prepare = prepare_fold_session,
               .component = "feed",
               .failure = "projections are not built",
               .retries_sql_errors = true},
              [this](postgres::LazySession& session, const std::stop_token& stop) {
                return maintain(session, stop);
              }) {
  for (std::size_t i = 0; i < options_.threads; ++i) {
    workers_.push_back(std::make_unique<postgres::SessionThread>(
        runtime,
        postgres::SessionThread::Options{.session_name = postgres::process_name("skua consumers"),
                                         .prepare = prepare_fold_session,
                                         .component = "feed",
                                         .failure = "consumers read no changes",
                                         .retries_sql_errors = true},
        [this](postgres::LazySession& session, const std::stop_token& stop) {
          return work(session, stop);
        }));
  }
}

void ConsumerPool::start() {
  if (options_.threads == 0) return;
  upkeep_.start();
  for (const auto& worker : workers_) worker->start();
}

void ConsumerPool::stop() {
  upkeep_.request_stop();
  for (const auto& worker : workers_) worker->request_stop();
  for (const auto& worker : workers_) worker->stop();
  if (const int pid = upkeep_pid_.exchange(0); pid != 0) {
    try {
      postgres::Session session(runtime_.database_url, postgres::process_name("skua stop"));
      // The statement selects from pg_stat_activity, because PostgreSQL warns in its log if the
      // process has ended.
      session.run("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid = " +
                  std::to_string(pid));
    } catch (const postgres::SqlError& error) {
      logger("feed")->warn("a build cannot be interrupted: {}", error.what());
    }
  }
  upkeep_.stop();
}

milliseconds ConsumerPool::work(postgres::LazySession& session, const std::stop_token& stop) {
  for (int i = 0; i < kStepsOfRound && !stop.stop_requested(); ++i) {
    if (fold_step(session.get(), metrics_) == StepResult::Idle) return idle_pause_.load();
  }
  return milliseconds(0);
}

milliseconds ConsumerPool::maintain(postgres::LazySession& lazy, const std::stop_token& stop) {
  postgres::Session& session = lazy.get();
  upkeep_pid_ = session.backend_pid();
  rebuild_old_versions(session);
  while (!stop.stop_requested() && maintain_projections(session, metrics_, stop)) {
  }
  replay_skipped_changes(session);
  const std::vector<Consumer> consumers = read_consumers(session);
  idle_pause_ = idle_pause(consumers);
  const auto now = std::chrono::steady_clock::now();
  if (now >= next_check_) {
    next_check_ = now + options_.check_interval;
    for (const Consumer& consumer : consumers) {
      if (stop.stop_requested()) break;
      check_consumer(session, consumer, kCheckedRows, metrics_, stop);
    }
  }
  upkeep_pid_ = 0;
  return options_.upkeep_interval;
}

}  // namespace skua::consumers
