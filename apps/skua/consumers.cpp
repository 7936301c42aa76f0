#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/count_text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "feed/consumers/consumer_replays.hpp"
#include "feed/consumers/consumer_table.hpp"
#include "feed/consumers/fold_step.hpp"
#include "feed/consumers/projection_upkeep.hpp"
#include "settings.hpp"
#include "status/consumer_list.hpp"
#include "store/session.hpp"

namespace skua::cli {
namespace {

const Option<std::optional<std::int64_t>> kPosition({.name = "--position",
                                                     .type = "NUMBER",
                                                     .meaning = "A position of the change log",
                                                     .default_text = "the present end"},
                                                    number_in<std::int64_t>(0,
                                                                            std::int64_t{1} << 62));
const Option<std::chrono::seconds> kWaitTimeout({.name = "--timeout",
                                                 .type = "DURATION",
                                                 .meaning = "The maximum time",
                                                 .default_value = "30s"},
                                                duration_in(std::chrono::seconds(1),
                                                            std::chrono::hours(24)));
const Option<std::optional<std::int32_t>> kRows(
    {.name = "--rows",
     .type = "NUMBER",
     .meaning = "Compare this number of rows, chosen at random",
     .default_text = "all"},
    number_in<std::int32_t>(1, 1'000'000));

/// The consumers of this name: during a rebuild the live one and the next one.
std::vector<feed::Consumer> consumers_named(store::Session& session, const std::string& name) {
  std::vector<feed::Consumer> found;
  for (feed::Consumer& consumer : feed::read_consumers(session)) {
    if (consumer.name == name) found.push_back(std::move(consumer));
  }
  return found;
}

int consumers_list(const Invocation& invocation) {
  store::Session session = open_database(invocation, "skua consumers");
  const nlohmann::json consumers = status::read_consumer_list(session);
  if (invocation[kJson]) {
    fmt::print("{}\n", consumers.dump(2));
  } else if (consumers.empty()) {
    fmt::print("no consumers: `skua consumers add` adds one\n");
  } else {
    fmt::print("{}", status::consumer_list_text(consumers));
  }
  return kSuccess;
}

int consumers_status(const Invocation& invocation) {
  const std::string name = invocation[kConsumerName];
  store::Session session = open_database(invocation, "skua consumers");
  nlohmann::json named = nlohmann::json::array();
  for (const nlohmann::json& consumer : status::read_consumer_list(session)) {
    if (consumer["name"] == name) named.push_back(consumer);
  }
  if (named.empty()) {
    fmt::print(
        stderr,
        "skua consumers status: there is no consumer '{}': `skua consumers list` shows all\n",
        name);
    return kFailure;
  }
  if (invocation[kJson]) {
    fmt::print("{}\n", named.dump(2));
    return kSuccess;
  }
  for (const nlohmann::json& consumer : named) fmt::print("{}", status::consumer_text(consumer));
  return kSuccess;
}

int consumers_wait(const Invocation& invocation) {
  const std::string name = invocation[kConsumerName];
  const std::chrono::seconds timeout = invocation[kWaitTimeout];
  store::Session session = open_database(invocation, "skua consumers");
  const auto given = invocation[kPosition];
  const std::int64_t position =
      given ? *given : session.run("SELECT skua.change_log_end()").int8(0, 0);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    const auto found = consumers_named(session, name);
    if (found.empty()) {
      command_line::print_stderr("skua consumers wait: there is no consumer '{}'\n", name);
      return kFailure;
    }
    const feed::Consumer& consumer = found.front();
    if (consumer.role == "live" && !consumer.lanes.empty()) {
      std::int64_t reached = consumer.lanes.front().done_pos;
      for (const feed::ConsumerLane& lane : consumer.lanes) {
        reached = std::min(reached, lane.done_pos);
      }
      if (reached >= position) {
        fmt::print("{} has reached position {}\n", name, reached);
        return kSuccess;
      }
    }
    if (consumer.state == "stopped" || consumer.state == "lagged out") {
      command_line::print_stderr("skua consumers wait: {} is {}: {}\n", name, consumer.state,
                                 consumer.error);
      return kFailure;
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      command_line::print_stderr("skua consumers wait: {} has not reached position {} within {}\n",
                                 name, position, invocation.text_of(kWaitTimeout));
      return kFailure;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

int consumers_run(const Invocation& invocation, bool until_idle) {
  const std::string name = invocation[kConsumerName];
  store::Session session = open_database(invocation, "skua consumers");
  if (!name.empty() && consumers_named(session, name).empty()) {
    command_line::print_stderr("skua consumers: there is no consumer '{}'\n", name);
    return kFailure;
  }
  feed::prepare_fold_session(session);
  feed::ConsumerMetrics metrics;
  feed::rebuild_old_versions(session);
  const feed::FoldOptions options{.only = name, .ignores_pause = true};
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

int consumers_verify(const Invocation& invocation) {
  const std::string name = invocation[kConsumerName];
  const auto rows = invocation[kRows];
  store::Session session = open_database(invocation, "skua consumers");
  feed::prepare_fold_session(session);
  feed::ConsumerMetrics metrics;
  // Another process may work on the lanes just now.
  for (int attempt = 0; attempt < 50; ++attempt) {
    const auto differences = feed::check_projection(session, name, rows, metrics);
    if (differences) {
      for (const std::string& difference : *differences) fmt::print("{}\n", difference);
      if (!differences->empty()) return kFailure;
      fmt::print("{} equals the records\n", name);
      return kSuccess;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  command_line::print_stderr(
      "skua consumers verify: {} is not built, or other processes keep it busy\n", name);
  return kFailure;
}

}  // namespace

CommandSpecs consumers_commands() {
  const OptionUse name = required(kConsumerName);
  const OptionUse only = with_meaning(kConsumerName, "Apply changes to this consumer only");
  return {{"consumers",
           "Manage what follows the change log: counts, notifications, trends, webhooks, pull "
           "consumers"},
          {"consumers list",
           "List the consumers, their state and how far behind they are",
           {kDatabase, kJson},
           consumers_list},
          {"consumers status",
           "Print all values of a consumer, and its lanes",
           {kDatabase, name, kJson},
           consumers_status},
          {"consumers wait",
           "Wait until a consumer has read the changes up to now",
           {kDatabase, name, kPosition, kWaitTimeout},
           consumers_wait},
          {"consumers verify",
           "Compare a projection with the records",
           {kDatabase, name, kRows},
           consumers_verify},
          {"consumers run-once",
           "Do one step: build, exchange, or apply one batch of changes",
           {kDatabase, only},
           [](const Invocation& invocation) { return consumers_run(invocation, false); }},
          {"consumers run-until-idle",
           "Build projections and apply all changes",
           {kDatabase, only},
           [](const Invocation& invocation) { return consumers_run(invocation, true); }}};
}

}  // namespace skua::cli
