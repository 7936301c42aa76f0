#include "consumers.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/count_text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "consumers_session.hpp"
#include "feed/consumers/consumer_replays.hpp"
#include "feed/consumers/consumer_table.hpp"
#include "feed/consumers/fold_step.hpp"
#include "feed/consumers/projection_upkeep.hpp"
#include "status/consumer_list.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"

namespace skua::cli {
namespace {

/// The consumers of this name: during a rebuild the live one and the next one.
std::vector<feed::Consumer> consumers_named(store::Session& session, const std::string& name) {
  std::vector<feed::Consumer> found;
  for (feed::Consumer& consumer : feed::read_consumers(session)) {
    if (consumer.name == name) found.push_back(std::move(consumer));
  }
  return found;
}

}  // namespace

int consumers_list(const Settings& settings, const ConsumersFlags& flags) {
  store::Session session = consumers_session(settings, flags);
  const nlohmann::json consumers = status::read_consumer_list(session);
  if (flags.json) {
    fmt::print("{}\n", consumers.dump(2));
  } else if (consumers.empty()) {
    fmt::print("no consumers: `skua consumers add` adds one\n");
  } else {
    fmt::print("{}", status::consumer_list_text(consumers));
  }
  return kSuccess;
}

int consumers_status(const Settings& settings, const ConsumersFlags& flags) {
  store::Session session = consumers_session(settings, flags);
  nlohmann::json named = nlohmann::json::array();
  for (const nlohmann::json& consumer : status::read_consumer_list(session)) {
    if (consumer["name"] == flags.name) named.push_back(consumer);
  }
  if (named.empty()) {
    fmt::print(
        stderr,
        "skua consumers status: there is no consumer '{}': `skua consumers list` shows all\n",
        flags.name);
    return kFailure;
  }
  if (flags.json) {
    fmt::print("{}\n", named.dump(2));
    return kSuccess;
  }
  for (const nlohmann::json& consumer : named) fmt::print("{}", status::consumer_text(consumer));
  return kSuccess;
}

int consumers_add(const Settings& settings, const ConsumersFlags& flags) {
  if (flags.from || !flags.collections.empty() || !flags.dids.empty() || !flags.ops.empty() ||
      !flags.kinds.empty()) {
    throw UsageError(
        "a projection reads all changes: --from, --collection, --did, --op and --kind are for "
        "--webhook and --pull");
  }
  feed::NewConsumer consumer{.name = flags.name,
                             .policy = flags.policy,
                             .profile = flags.profile,
                             .overrides = tuning_overrides(flags.overrides)};
  if (flags.lanes) consumer.lanes = static_cast<std::int16_t>(*flags.lanes);
  require_valid(consumer);
  return attempt(settings, flags, "add",
                 fmt::format("added {}: `skua run` builds its tables", flags.name),
                 [&](store::Session& session) { feed::add_consumer(session, consumer); });
}

int consumers_remove(const Settings& settings, const ConsumersFlags& flags) {
  return attempt(settings, flags, "remove",
                 fmt::format("removed {}: `skua run` drops its tables", flags.name),
                 [&](store::Session& session) { feed::remove_consumer(session, flags.name); });
}

int consumers_pause(const Settings& settings, const ConsumersFlags& flags, bool paused) {
  return attempt(
      settings, flags, paused ? "pause" : "resume",
      fmt::format("{} {}", paused ? "paused" : "resumed", flags.name),
      [&](store::Session& session) { feed::pause_consumer(session, flags.name, paused); });
}

int consumers_rebuild(const Settings& settings, const ConsumersFlags& flags) {
  return attempt(settings, flags, "rebuild",
                 fmt::format("{}: `skua run` builds new tables and then replaces the present ones",
                             flags.name),
                 [&](store::Session& session) { feed::rebuild_consumer(session, flags.name); });
}

int consumers_reset(const Settings& settings, const ConsumersFlags& flags) {
  return attempt(
      settings, flags, "reset",
      fmt::format("{} continues{}", flags.name, flags.skip ? " after the change that failed" : ""),
      [&](store::Session& session) {
        feed::reset_consumer(session, flags.name,
                             flags.skip ? feed::AfterStop::Skip : feed::AfterStop::Retry);
      });
}

int consumers_wait(const Settings& settings, const ConsumersFlags& flags) {
  const std::chrono::seconds timeout =
      duration({flags.timeout, "--timeout"}, std::chrono::seconds(1), std::chrono::hours(24));
  store::Session session = consumers_session(settings, flags);
  const std::int64_t position =
      flags.position ? whole_number({*flags.position, "--position"}, 0, std::int64_t{1} << 62)
                     : session.run("SELECT skua.change_log_end()").int8(0, 0);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    const auto found = consumers_named(session, flags.name);
    if (found.empty()) {
      command_line::print_stderr("skua consumers wait: there is no consumer '{}'\n", flags.name);
      return kFailure;
    }
    const feed::Consumer& consumer = found.front();
    if (consumer.role == "live" && !consumer.lanes.empty()) {
      std::int64_t reached = consumer.lanes.front().done_pos;
      for (const feed::ConsumerLane& lane : consumer.lanes) {
        reached = std::min(reached, lane.done_pos);
      }
      if (reached >= position) {
        fmt::print("{} has reached position {}\n", flags.name, reached);
        return kSuccess;
      }
    }
    if (consumer.state == "stopped" || consumer.state == "lagged out") {
      command_line::print_stderr("skua consumers wait: {} is {}: {}\n", flags.name, consumer.state,
                                 consumer.error);
      return kFailure;
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      command_line::print_stderr("skua consumers wait: {} has not reached position {} within {}\n",
                                 flags.name, position, flags.timeout);
      return kFailure;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

int consumers_run(const Settings& settings, const ConsumersFlags& flags, bool until_idle) {
  store::Session session = consumers_session(settings, flags);
  if (!flags.name.empty() && consumers_named(session, flags.name).empty()) {
    command_line::print_stderr("skua consumers: there is no consumer '{}'\n", flags.name);
    return kFailure;
  }
  feed::prepare_fold_session(session);
  feed::ConsumerMetrics metrics;
  feed::rebuild_old_versions(session);
  const feed::FoldOptions options{.only = flags.name, .ignores_pause = true};
  bool worked = false;
  do {
    worked = feed::maintain_projections(session, metrics) ||
             feed::fold_step(session, metrics, options) == feed::StepResult::Worked;
  } while (until_idle && worked);
  if (until_idle) feed::replay_skipped_changes(session);
  fmt::print("{} applied in {}, {}\n", counted(metrics.changes.value(), "change"),
             counted(metrics.batches.value(), "batch"),
             counted(metrics.builds.value(), "projection") + " built");
  return kSuccess;
}

int consumers_verify(const Settings& settings, const ConsumersFlags& flags) {
  store::Session session = consumers_session(settings, flags);
  feed::prepare_fold_session(session);
  feed::ConsumerMetrics metrics;
  // Another process may work on the lanes just now.
  for (int attempt = 0; attempt < 50; ++attempt) {
    const auto differences = feed::check_projection(
        session, flags.name, flags.rows ? std::optional<std::int32_t>(*flags.rows) : std::nullopt,
        metrics);
    if (differences) {
      for (const std::string& difference : *differences) fmt::print("{}\n", difference);
      if (!differences->empty()) return kFailure;
      fmt::print("{} equals the records\n", flags.name);
      return kSuccess;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  command_line::print_stderr(
      "skua consumers verify: {} is not built, or other processes keep it busy\n", flags.name);
  return kFailure;
}

}  // namespace skua::cli
