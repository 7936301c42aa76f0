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
    : runtime_(runtime),
      options_(options),
      slow_batches_(options.clock, options.quick_batch),
      slow_upkeep_(options.clock, options.quick_upkeep),
      built_in_{.batches = {.is_own = false},
                .upkeep = {.is_own = false},
                .has_work = [] { return true; }},
      quick_{.batches = {.is_own = true, .slow = {&slow_batches_}},
             .upkeep = {.is_own = true, .slow = {&slow_upkeep_, &slow_batches_}},
             .has_work = [this] { return has_own_.load(); }},
      slow_{.batches = {.is_own = true, .slow = {&slow_batches_}, .takes_slow = true},
            .upkeep = {.is_own = true, .slow = {&slow_upkeep_, &slow_batches_}, .takes_slow = true},
            .has_work = [this] {
              return !slow_batches_.ids().empty() || !slow_upkeep_.ids().empty();
            }} {
  fill(built_in_, kProjectionsSession, "skua consumers", options.threads);
  fill(quick_, "skua own projections", "skua own consumers", options.threads);
  fill(slow_, "skua slow projections", "skua slow consumers",
       std::max<std::size_t>(options.threads / 2, 1));
}

void ConsumerPool::fill(Group& group, const std::string& upkeep_name,
                        const std::string& worker_name, std::size_t threads) {
  group.upkeep_worker =
      worker(group, upkeep_name, "projections are not built",
             group.upkeep.is_quick() ? options_.quick_upkeep : milliseconds(0),
             [this, &group](postgres::Session& session, const std::stop_token& stop) {
               return maintain(group, session, stop);
             });
  for (std::size_t i = 0; i < threads; ++i) {
    group.workers.push_back(
        worker(group, worker_name, "consumers read no changes", milliseconds(0),
               [this, &group](postgres::Session& session, const std::stop_token& stop) {
                 return work(group, session, stop);
               }));
  }
}

std::unique_ptr<ConsumerPool::Worker> ConsumerPool::worker(const Group& group,
                                                           const std::string& session_name,
                                                           const char* failure,
                                                           milliseconds longest, Round round) {
  auto made = std::make_unique<Worker>();
  made->thread = std::make_unique<postgres::SessionThread>(
      runtime_,
      postgres::SessionThread::Options{.session_name = postgres::process_name(session_name),
                                       .prepare =
                                           [longest](postgres::Session& session) {
                                             prepare_fold_session(session);
                                             if (longest.count() > 0) {
                                               session.run("SET statement_timeout = " +
                                                           std::to_string(longest.count()));
                                             }
                                           },
                                       .component = "feed",
                                       .failure = failure,
                                       .retries_sql_errors = true},
      [this, &group, round = std::move(round), &pid = made->pid](postgres::LazySession& lazy,
                                                                 const std::stop_token& stop) {
        if (!group.has_work()) return std::min(options_.upkeep_interval, milliseconds(1'000));
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
  for (Group* group : groups_) {
    group->upkeep_worker->thread->start();
    for (const auto& worker : group->workers) worker->thread->start();
  }
}

void ConsumerPool::stop() {
  for (Group* group : groups_) {
    group->upkeep_worker->thread->request_stop();
    for (const auto& worker : group->workers) worker->thread->request_stop();
  }
  for (const auto& worker : built_in_.workers) worker->thread->stop();
  interrupt();
  for (Group* group : groups_) {
    for (const auto& worker : group->workers) worker->thread->stop();
    group->upkeep_worker->thread->stop();
  }
}

void ConsumerPool::interrupt() {
  std::string pids;
  const auto add = [&](Worker& worker) {
    const int pid = worker.pid.exchange(0);
    if (pid != 0) pids += (pids.empty() ? "" : ", ") + std::to_string(pid);
  };
  for (Group* group : groups_) {
    add(*group->upkeep_worker);
    if (group->is_built_in()) continue;
    for (const auto& worker : group->workers) add(*worker);
  }
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

milliseconds ConsumerPool::work(const Group& group, postgres::Session& session,
                                const std::stop_token& stop) {
  for (int i = 0; i < kStepsOfRound && !stop.stop_requested(); ++i) {
    if (fold_step(session, metrics_, {.workload = group.batches}) == StepResult::Idle) {
      return idle_pause_.load();
    }
  }
  return milliseconds(0);
}

milliseconds ConsumerPool::maintain(Group& group, postgres::Session& session,
                                    const std::stop_token& stop) {
  if (group.is_built_in()) rebuild_old_versions(session);
  while (!stop.stop_requested() && maintain_projections(session, metrics_, stop, group.upkeep)) {
  }
  replay_skipped_changes(session, group.upkeep);
  const std::vector<Consumer> consumers = read_consumers(session);
  if (group.is_built_in()) {
    idle_pause_ = idle_pause(consumers);
    has_own_ = has_own_projections(session);
  }
  const auto now = std::chrono::steady_clock::now();
  if (now >= group.next_check) {
    group.next_check = now + options_.check_interval;
    check_consumers(group, session, consumers, stop);
  }
  return options_.upkeep_interval;
}

void ConsumerPool::check_consumers(const Group& group, postgres::Session& session,
                                   const std::vector<Consumer>& consumers,
                                   const std::stop_token& stop) {
  for (const Consumer& consumer : consumers) {
    if (stop.stop_requested()) break;
    if (!group.upkeep.takes(consumer.id, consumer.is_own)) continue;
    check_consumer(session, consumer, kCheckedRows, metrics_, stop, group.upkeep);
  }
}

}  // namespace skua::consumers
