#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "addresses.hpp"
#include "app/consumer_parts.hpp"
#include "app/database.hpp"
#include "app/references.hpp"
#include "base/log.hpp"
#include "base/metric.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "consumers/consumer_replays.hpp"
#include "consumers/fold_step.hpp"
#include "consumers/lane_report.hpp"
#include "consumers/messages/message_sequencer.hpp"
#include "consumers/projection_upkeep.hpp"
#include "database.hpp"
#include "pages/pages.hpp"
#include "postgres/runtime.hpp"
#include "postgres/session.hpp"
#include "run_pages.hpp"
#include "settings.hpp"
#include "status/metrics_text.hpp"
#include "stop_signal.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {

namespace {

const Option<std::optional<SettingValue>> kConsumerPages(
    {.name = "--http",
     .type = "ADDRESS:PORT|off",
     .meaning = "Address of the pages of this process, without TLS: the dashboard, /health/ready, "
                "/metrics and /status",
     .default_text = std::string(kDefaultConsumerPages) + "; without pages if the port is taken"});

/// The number of changes that a lane has processed, by consumer and lane.
using Processed = std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t>;

std::int64_t processed_by(const Processed& processed, const consumers::LaneReport& lane) {
  const auto found = processed.find({lane.consumer_id, lane.lane.value_or(-1)});
  return found == processed.end() ? 0 : found->second;
}

nlohmann::json lane_json(const consumers::LaneReport& lane, std::int64_t processed) {
  return {{"consumer", lane.consumer},
          {"kind", lane.kind},
          {"lane", lane.lane ? nlohmann::json(*lane.lane) : nlohmann::json()},
          {"processed", processed},
          {"state", consumers::to_string(lane.state)},
          {"left", lane.left},
          {"retry_seconds",
           lane.retry_in ? nlohmann::json(std::chrono::duration<double>(*lane.retry_in).count())
                         : nlohmann::json()},
          {"error", lane.error}};
}

/// Returns what the state of a lane means for people.
std::string state_text(const consumers::LaneReport& lane) {
  using consumers::LaneState;
  switch (lane.state) {
    case LaneState::Backoff:
      return fmt::format("waits for {} after a failure",
                         duration_text(std::chrono::ceil<std::chrono::seconds>(*lane.retry_in)));
    case LaneState::Leased:
      return "another process works on it";
    case LaneState::Ready:
      return lane.kind == "projection" ? "ready" : "`skua serve` delivers them";
    case LaneState::Unbuilt:
      return "its tables are not built";
    case LaneState::Waiting:
      return "a bootstrap is open";
    default:
      return std::string(consumers::to_string(lane.state));
  }
}

std::string lane_text(const consumers::LaneReport& lane, std::int64_t processed) {
  std::string text = lane.consumer;
  if (lane.lane) {
    text += fmt::format(" lane {}: {} processed", *lane.lane, counted(processed, "change"));
    if (lane.left > 0) text += fmt::format(", {} left", lane.left);
    text += ", " + state_text(lane);
  } else {
    text += ": " + state_text(lane);
  }
  constexpr std::size_t kLongestError = 300;
  if (!lane.error.empty()) text += ": " + printable(lane.error, kLongestError);
  return text;
}

void print_lanes(const Invocation& invocation, const std::vector<consumers::LaneReport>& lanes,
                 const Processed& processed, const consumers::ConsumerMetrics& metrics,
                 bool is_done) {
  if (invocation[kJson]) {
    nlohmann::json all = nlohmann::json::array();
    for (const auto& lane : lanes) all.push_back(lane_json(lane, processed_by(processed, lane)));
    const nlohmann::json report = {{"lanes", std::move(all)},
                                   {"changes", metrics.changes.value()},
                                   {"batches", metrics.batches.value()},
                                   {"builds", metrics.builds.value()},
                                   {"is_done", is_done}};
    fmt::print("{}\n", report.dump(2));
    return;
  }
  for (const auto& lane : lanes) fmt::print("{}\n", lane_text(lane, processed_by(processed, lane)));
  fmt::print("{} applied in {}, {}\n", counted(metrics.changes.value(), "change"),
             counted(metrics.batches.value(), "batch"),
             counted(metrics.builds.value(), "projection") + " built");
}

/// Other processes may work on lanes, and append changes, at the same time. `run-until-idle` waits
/// for them for about two seconds.
constexpr int kRounds = 40;
constexpr std::chrono::milliseconds kBetweenRounds{50};

bool may_end_soon(const consumers::LaneReport& lane) {
  using consumers::LaneState;
  return lane.kind == "projection" &&
         (lane.state == LaneState::Ready || lane.state == LaneState::Leased);
}

/// Runs `run-once` or `run-until-idle`.
int work_on_lanes(const Invocation& invocation, bool until_idle) {
  const std::string name = invocation[kConsumerName];
  postgres::Session session = open_database(invocation, "skua consumers");
  if (!name.empty() && consumers::report_lanes(session, name).empty()) {
    command_line::print_stderr("skua consumers: there is no consumer '{}'\n", name);
    return kFailure;
  }
  consumers::prepare_fold_session(session);
  consumers::ConsumerMetrics metrics;
  consumers::rebuild_old_versions(session);
  consumers::MessageMover messages;
  Processed processed;
  const consumers::FoldOptions options{
      .only = name, .ignores_pause = true, .applied = [&](const consumers::Batch& batch) {
        processed[{batch.consumer_id, batch.lane}] += batch.end - batch.first;
      }};
  std::vector<consumers::LaneReport> lanes;
  for (int round = 0; round < kRounds; ++round) {
    bool worked = false;
    do {
      worked = consumers::maintain_projections(session, metrics) || messages.move(session) > 0 ||
               consumers::fold_step(session, metrics, options) == consumers::StepResult::Worked;
    } while (until_idle && worked);
    if (until_idle) consumers::replay_skipped_changes(session);
    lanes = consumers::report_lanes(session, name);
    if (!until_idle || std::ranges::none_of(lanes, may_end_soon)) break;
    std::this_thread::sleep_for(kBetweenRounds);
  }
  if (until_idle) {
    // The notifications of a node tell replies to other nodes.
    const auto unsent = app::send_references(session, require_database(invocation));
    for (const std::string& text : unsent) print_error(text);
  }
  const bool is_done = std::ranges::all_of(lanes, &consumers::LaneReport::is_done);
  print_lanes(invocation, lanes, processed, metrics, is_done);
  return is_done ? kSuccess : kFailure;
}

/// Keeps projections up to date until the user stops the process.
int run_consumers(const Invocation& invocation) {
  StopSignal stop_signal;
  // The reason of a fatal error is printed at the end.
  postgres::Runtime runtime(require_database(invocation), system_clock(),
                            [](const std::string&) {});
  app::check_database_to_write(runtime.database_url, durability(invocation));
  app::ConsumerParts consumers(runtime, invocation[kProjectionThreads]);

  postgres::Runtime pages_runtime(
      runtime.database_url, system_clock(), [](const std::string& what) {
        logger("pages")->error("the pages end, the consumers continue: {}", what);
      });
  const auto runtime_of_admin = admin_runtime(runtime.database_url);
  admin::AdminApi admin(*runtime_of_admin, admin_options(invocation));
  pages::Heartbeat main_loop("main");
  std::atomic<pages::ProcessState::Phase> phase = pages::ProcessState::Phase::Running;
  pages::Pages pages(pages_runtime, {.command = "consumers",
                                     .process =
                                         [&phase] {
                                           pages::ProcessState state;
                                           state.phase = phase;
                                           return state;
                                         },
                                     .metrics =
                                         [&] {
                                           auto values = consumers.metrics();
                                           std::ranges::move(values_of(admin.metrics()),
                                                             std::back_inserter(values));
                                           return status::labelled(std::move(values));
                                         },
                                     .loops = {&main_loop}});
  std::unique_ptr<http_server::Server> server;
  if (const auto chosen = invocation[kConsumerPages]; !chosen || chosen->value != "off") {
    http_server::Server::Routes routes;
    pages.add_routes(routes);
    admin.add_routes(routes);
    server = serve_pages(chosen.value_or(SettingValue{kDefaultConsumerPages, kConsumerPages.name}),
                         !chosen, invocation[kHttpHost], std::move(routes), admin);
  }
  pages.start();
  consumers.start();
  print_progress("keeping projections up to date; Ctrl-C stops");
  do {
    main_loop.beat(std::chrono::steady_clock::now());
  } while (!runtime.reason_to_stop() && !stop_signal.wait_for(std::chrono::milliseconds(250)));
  main_loop.rest();
  phase = pages::ProcessState::Phase::Stopping;
  stop_signal.limit_the_end();
  print_progress("stopping: finishing the current batches");
  consumers.stop();
  if (server) server->stop();
  admin.stop();
  pages.stop();
  if (const auto what = runtime.reason_to_stop()) {
    print_error(*what);
    return kFailure;
  }
  print_last_line(fmt::format("stopped: {} applied in {}",
                              counted(consumers.pool_metrics().changes.value(), "change"),
                              counted(consumers.pool_metrics().batches.value(), "batch")));
  return kSuccess;
}

}  // namespace

CommandSpecs consumer_work_commands() {
  const OptionUse only = with_meaning(kConsumerName, "Apply changes to this consumer only");
  return {{"consumers run",
           "Keep projections up to date until stopped, beside or without `skua run`",
           {kDatabase, kAllowUnsafeDatabase, kProjectionThreads, kConsumerPages, kHttpHost,
            kAdminTokenFile},
           run_consumers},
          {"consumers run-once",
           "Do one step: build, exchange, or apply one batch of changes",
           {kDatabase, only, kJson},
           [](const Invocation& invocation) { return work_on_lanes(invocation, false); }},
          {"consumers run-until-idle",
           "Build projections and apply all changes",
           {kDatabase, only, kJson},
           [](const Invocation& invocation) { return work_on_lanes(invocation, true); }}};
}

}  // namespace skua::cli
