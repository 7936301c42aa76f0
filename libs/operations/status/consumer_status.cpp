#include "status/consumer_status.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/time.hpp"
#include "command_line/display_text.hpp"
#include "consumers/consumer_judgement.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/log_maintenance.hpp"
#include "consumers/projections/projection.hpp"
#include "consumers/tuning.hpp"
#include "status/consumer_status.sql.hpp"
#include "status/line_layout.hpp"
#include "status/reports.hpp"

namespace skua::status {

namespace {

struct ChangeLogState {
  std::int32_t timeline;
  std::int64_t retention_seconds;
  /// Nothing if the log has no blocks.
  std::optional<std::int64_t> oldest;
  std::optional<Timestamp> oldest_at;
  std::optional<std::int64_t> next;
  std::optional<Timestamp> newest_at;
};

using nlohmann::json;

constexpr std::size_t kLongestError = 300;

/// Returns one sentence about the consumer.
std::string help_of(const consumers::Consumer& consumer) {
  if (consumer.kind == "webhook") return "Changes that `skua serve` sends to " + consumer.url;
  if (consumer.kind == "pull") return "Changes that a program fetches from `skua serve`";
  if (consumer.is_own) return consumer.help;
  const consumers::Projection* projection = consumers::find_projection(consumer.name);
  return projection != nullptr ? std::string(projection->help) : "";
}

json seconds_or_null(const std::optional<std::chrono::milliseconds>& time) {
  return time ? json(std::chrono::duration<double>(*time).count()) : json();
}

/// Returns a number of seconds, rounded up, as a text.
std::string rounded_text(const json& seconds) {
  return duration_text(std::chrono::ceil<std::chrono::seconds>(Seconds(seconds.get<double>())));
}

std::string progress_text(const json& consumer) {
  if (consumer["changes_behind"].is_null()) return "";
  const auto behind = consumer["changes_behind"].get<std::int64_t>();
  std::string text = behind == 0
                         ? "up to date"
                         : fmt::format("{} behind, {}", counted(behind, "change"),
                                       lag_text(Seconds(consumer["lag_seconds"].get<double>())));
  if (const json& retry = consumer["retry_seconds"]; !retry.is_null()) {
    text += ", tries again in " + rounded_text(retry);
  }
  if (const auto letters = consumer["dead_letters"].get<std::int64_t>(); letters > 0) {
    text += ", " + counted(letters, "dead letter");
  }
  return text;
}

/// Returns the time until the first lane tries again; nothing if no lane waits after a failure.
std::optional<std::chrono::milliseconds> next_attempt(const consumers::Consumer& consumer) {
  std::optional<std::chrono::milliseconds> next;
  for (const consumers::ConsumerLane& lane : consumer.lanes) {
    if (lane.retry_in && (!next || *lane.retry_in < *next)) next = lane.retry_in;
  }
  return next;
}

/// Returns the lease of a lane; null if it has none, or if the lease has ended.
json lease_of(const consumers::ConsumerLane& lane) {
  if (!lane.is_leased) return nullptr;
  return {{"owner", lane.lease_owner},
          {"until", or_null(lane.lease_until)},
          {"seconds", seconds_or_null(lane.lease_ends_in)}};
}

/// Returns the values of the profile with the overrides.
json tuning_of(const consumers::Consumer& consumer) {
  const consumers::Tuning tuning = consumers::tuning_of(consumer.profile, consumer.overrides);
  json values = json::object();
  for (const consumers::TuningValue& value : consumers::tuning_values()) {
    if (!value.kind.empty() && value.kind != consumer.kind) continue;
    values[value.key] = value.read(tuning);
  }
  return values;
}

/// Returns the tuning of a consumer as a line, in the order of the values.
std::string tuning_text(const json& consumer) {
  std::string text;
  for (const consumers::TuningValue& value : consumers::tuning_values()) {
    const std::string key(value.key);
    const auto found = consumer["tuning"].find(key);
    if (found == consumer["tuning"].end()) continue;
    text += fmt::format("{}{}={}{}", text.empty() ? "" : ", ", key, found->dump(),
                        consumer["overrides"].contains(key) ? " (set)" : "");
  }
  return text;
}

/// Returns the failures since the last successful batch; null if no lane fails.
json failures_of(const consumers::Consumer& consumer) {
  const consumers::ConsumerLane* const lane = consumers::failing_lane(consumer);
  if (lane == nullptr) return nullptr;
  return {{"since", format_datetime(*lane->failing_since)},
          {"seconds", std::chrono::duration<double>(lane->failing_for).count()},
          {"count", consumers::failures_in_a_row(consumer)},
          {"cause", consumers::to_string(lane->cause)},
          {"error", lane->error}};
}

constexpr const char* kLabel = "consumer";

constexpr MetricInfo kBehind{"", "skua_consumer_behind_changes", "changes",
                             "Changes that the slowest lane of the consumer has not processed"};
constexpr MetricInfo kLag{"", "skua_consumer_lag_seconds", "seconds",
                          "Age of the oldest change that the consumer has not processed"};
constexpr MetricInfo kRunning{
    "", "skua_consumer_running", "none",
    "State of the consumer: 1 if it processes changes; 0 before its first build is complete, and "
    "if it is stopped, paused or blocked, fails, or no process serves it"};
constexpr MetricInfo kFailing{"", "skua_consumer_failing_seconds", "seconds",
                              "Time since the first failure after the last batch of the consumer "
                              "that succeeded; 0 if the last one succeeded"};
constexpr MetricInfo kFailures{"", "skua_consumer_failures_in_a_row", "failures",
                               "Failures of the consumer since its last batch that succeeded"};
constexpr MetricInfo kBlocked{"", "skua_consumer_blocked_lanes", "lanes",
                              "Lanes of the consumer that a failed change blocks"};
constexpr MetricInfo kWaitingAccounts{"", "skua_consumer_waiting_accounts", "accounts",
                                      "Accounts whose changes wait behind a dead letter"};
constexpr MetricInfo kDeadLetters{"", "skua_consumer_dead_letters", "letters",
                                  "Dead letters of the consumer that nobody has handled"};
constexpr MetricInfo kRetry{"", "skua_consumer_retry_seconds", "seconds",
                            "Time until the consumer tries again after a failure; 0 if it does not "
                            "wait"};
constexpr MetricInfo kLeaseExpiries{
    "", "skua_consumer_lease_expiries_total", "leases",
    "Leases of the consumer that ended without an answer, each of them a failure"};

std::vector<MetricValue> values_of_consumer(const consumers::Consumer& consumer) {
  std::uint64_t blocked = 0;
  std::int64_t waiting = 0;
  std::int64_t expiries = 0;
  for (const consumers::ConsumerLane& lane : consumer.lanes) {
    expiries += lane.lease_expiries;
    blocked += lane.is_blocked ? 1 : 0;
    waiting += lane.waiting_accounts;
  }
  std::vector<MetricValue> values;
  if (consumer.behind) values.push_back({kBehind, MetricKind::Gauge, *consumer.behind});
  if (consumer.lag) {
    values.push_back(
        {kLag, MetricKind::Gauge, std::chrono::duration<double>(*consumer.lag).count()});
  }
  values.push_back(
      {kRunning, MetricKind::Gauge, consumers::judge_consumer(consumer).state == "running"});
  const consumers::ConsumerLane* const failing = consumers::failing_lane(consumer);
  values.push_back(
      {kFailing, MetricKind::Gauge,
       failing == nullptr ? 0.0 : std::chrono::duration<double>(failing->failing_for).count()});
  values.push_back({kFailures, MetricKind::Gauge, consumers::failures_in_a_row(consumer)});
  values.push_back({kBlocked, MetricKind::Gauge, blocked});
  values.push_back({kWaitingAccounts, MetricKind::Gauge, waiting});
  values.push_back({kDeadLetters, MetricKind::Gauge, consumer.letters});
  values.push_back(
      {kRetry, MetricKind::Gauge,
       std::chrono::duration<double>(next_attempt(consumer).value_or(std::chrono::milliseconds(0)))
           .count()});
  values.push_back({kLeaseExpiries, MetricKind::Counter, expiries});
  return values;
}

}  // namespace

nlohmann::json read_change_log_status(postgres::Session& session) {
  const auto state = session.query_one<ChangeLogState>(sql::change_log_status);
  const consumers::LogSize size = consumers::read_log_size(session);
  return {{"timeline", state.timeline},
          {"retention_seconds", state.retention_seconds},
          {"oldest", state.oldest.value_or(1)},
          {"oldest_at", or_null(state.oldest_at)},
          {"next", state.next.value_or(1)},
          {"newest_at", or_null(state.newest_at)},
          {"bytes", size.bytes},
          {"max_bytes", size.max_bytes}};
}

json read_consumer_list(postgres::Session& session) {
  json all = json::array();
  for (const consumers::Consumer& consumer : consumers::read_all_consumers(session)) {
    const consumers::ConsumerJudgement judgement = consumers::judge_consumer(consumer);
    json lanes = json::array();
    for (const consumers::ConsumerLane& lane : consumer.lanes) {
      lanes.push_back({{"lane", lane.lane},
                       {"position", lane.pos},
                       {"attempts", lane.attempts},
                       {"failures", lane.failures},
                       {"error", lane.error},
                       {"is_blocked", lane.is_blocked},
                       {"waiting_accounts", lane.waiting_accounts},
                       {"lease_expiries", lane.lease_expiries},
                       {"retry_seconds", seconds_or_null(lane.retry_in)},
                       {"lease", lease_of(lane)}});
    }
    all.push_back({{"name", consumer.name},
                   {"kind", consumer.kind},
                   {"help", help_of(consumer)},
                   {"state", judgement.state},
                   {"code", judgement.problem == nullptr ? json() : json(judgement.problem->code)},
                   {"reason", judgement.reason},
                   {"cure", judgement.cure},
                   {"failures", failures_of(consumer)},
                   {"is_served", consumer.is_served},
                   {"is_paused", consumer.paused},
                   {"is_live", consumer.role == "live"},
                   {"version", consumer.version},
                   {"policy", consumer.policy},
                   {"profile", consumer.profile},
                   {"overrides", json::parse(consumer.overrides)},
                   {"tuning", tuning_of(consumer)},
                   {"filter", json::parse(consumer.filter)},
                   {"lanes", lanes},
                   {"retry_seconds", seconds_or_null(next_attempt(consumer))},
                   {"dead_letters", consumer.letters},
                   {"changes_behind", consumer.behind ? json(*consumer.behind) : json()},
                   {"lag_seconds", seconds_or_null(consumer.lag)},
                   {"error", consumer.error}});
  }
  return all;
}

std::string consumer_list_text(const json& consumers, std::size_t indent) {
  if (consumers.empty()) return {};
  command_line::Table table({{"consumer"}, {"state"}, {"progress"}, {"content"}});
  for (const json& consumer : consumers) {
    table.add({consumer["name"].get<std::string>(), consumer["state"].get<std::string>(),
               progress_text(consumer), consumer["help"].get<std::string>()});
    for (const char* note : {"reason", "cure"}) {
      if (auto text = consumer[note].get<std::string>(); !text.empty())
        table.add_note(std::move(text));
    }
  }
  return table.text(indent);
}

std::string consumer_text(const json& consumer) {
  std::string text = fmt::format(
      "{}  {}  {}\n  {}\n  version {}, policy {}, profile {}", consumer["name"].get<std::string>(),
      consumer["state"].get<std::string>(), progress_text(consumer),
      consumer["help"].get<std::string>(), consumer["version"].dump(),
      consumer["policy"].get<std::string>(), consumer["profile"].get<std::string>());
  text += "\n  tuning: " + tuning_text(consumer);
  if (!consumer["filter"].empty()) text += "\n  filter " + consumer["filter"].dump();
  text += "\n";
  for (const char* note : {"reason", "cure"}) {
    if (const auto line = consumer[note].get<std::string>(); !line.empty()) {
      text += "  " + line + "\n";
    }
  }
  for (const json& lane : consumer["lanes"]) {
    text += fmt::format("  lane {}: next position {}", lane["lane"].dump(),
                        with_commas(lane["position"].get<std::int64_t>()));
    if (lane["failures"] != 0) {
      text += fmt::format(", {}: {}", counted(lane["failures"].get<std::int64_t>(), "failure"),
                          printable(lane["error"].get<std::string>(), kLongestError));
    }
    if (lane["is_blocked"] == true) text += "; blocked";
    if (lane["lease_expiries"] != 0) {
      text += fmt::format("; {} without an answer",
                          counted(lane["lease_expiries"].get<std::int64_t>(), "lease"));
    }
    if (!lane["retry_seconds"].is_null()) {
      text += "; tries again in " + rounded_text(lane["retry_seconds"]);
    }
    if (const json& lease = lane["lease"]; !lease.is_null()) {
      text += fmt::format("; leased by {}... for {}", lease["owner"].get<std::string>(),
                          rounded_text(lease["seconds"]));
    }
    if (lane["waiting_accounts"] != 0) {
      text += fmt::format("; changes of {} wait for dead letters",
                          counted(lane["waiting_accounts"].get<std::int64_t>(), "account"));
    }
    text += "\n";
  }
  return text;
}

std::vector<LabelledMetric> read_consumer_metrics(postgres::Session& session) {
  std::vector<LabelledMetric> all;
  std::string previous;
  for (const consumers::Consumer& consumer : consumers::read_consumers(session)) {
    // A rebuild follows the live consumer of its name.
    if (std::exchange(previous, consumer.name) == consumer.name) continue;
    for (MetricValue& value : values_of_consumer(consumer)) {
      all.push_back({std::move(value), {{kLabel, consumer.name}}});
    }
  }
  return all;
}

std::vector<pipeline::MetricDeclaration> consumer_metric_declarations() {
  std::vector<pipeline::MetricDeclaration> all;
  for (const MetricInfo& info : {kBehind, kLag, kRunning, kFailing, kFailures, kBlocked,
                                 kWaitingAccounts, kDeadLetters, kRetry}) {
    all.push_back({info, MetricKind::Gauge, kLabel});
  }
  all.push_back({kLeaseExpiries, MetricKind::Counter, kLabel});
  return all;
}

}  // namespace skua::status
