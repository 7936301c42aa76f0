#include "status/consumer_metrics.hpp"

#include <chrono>
#include <cstdint>
#include <utility>

#include "feed/consumers/consumer_judgement.hpp"
#include "feed/consumers/consumer_table.hpp"

namespace skua::status {
namespace {

constexpr const char* kLabel = "consumer";

constexpr MetricInfo kBehind{"", "skua_consumer_behind_changes", "changes",
                             "Changes that the slowest lane of the consumer has not processed"};
constexpr MetricInfo kLag{"", "skua_consumer_lag_seconds", "seconds",
                          "Age of the oldest change that the consumer has not processed"};
constexpr MetricInfo kRunning{
    "", "skua_consumer_running", "none",
    "State of the consumer: 1 if it processes changes; 0 if it is stopped, "
    "paused or blocked, fails, or no process serves it"};
constexpr MetricInfo kFailing{"", "skua_consumer_failing_seconds", "seconds",
                              "Time since the first failure after the last batch of the consumer "
                              "that succeeded; 0 if the last one succeeded"};
constexpr MetricInfo kFailures{"", "skua_consumer_failures_in_a_row", "failures",
                               "Failures of the consumer since its last batch that succeeded"};
constexpr MetricInfo kBlocked{"", "skua_consumer_blocked_lanes", "lanes",
                              "Lanes of the consumer that a failed change blocks"};
constexpr MetricInfo kWaitingAccounts{"", "skua_consumer_waiting_accounts", "accounts",
                                      "Accounts whose changes wait behind a dead letter"};

std::vector<MetricValue> values_of_consumer(const feed::Consumer& consumer) {
  std::uint64_t blocked = 0;
  std::int64_t waiting = 0;
  for (const feed::ConsumerLane& lane : consumer.lanes) {
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
      {kRunning, MetricKind::Gauge, feed::judge_consumer(consumer).state == "running"});
  const feed::ConsumerLane* const failing = feed::failing_lane(consumer);
  values.push_back(
      {kFailing, MetricKind::Gauge,
       failing == nullptr ? 0.0 : std::chrono::duration<double>(failing->failing_for).count()});
  values.push_back({kFailures, MetricKind::Gauge, feed::failures_in_a_row(consumer)});
  values.push_back({kBlocked, MetricKind::Gauge, blocked});
  values.push_back({kWaitingAccounts, MetricKind::Gauge, waiting});
  return values;
}

}  // namespace

std::vector<LabelledMetric> read_consumer_metrics(store::Session& session) {
  std::vector<LabelledMetric> all;
  for (const feed::Consumer& consumer : feed::read_consumers(session)) {
    if (consumer.role != "live") continue;
    for (MetricValue& value : values_of_consumer(consumer)) {
      all.push_back({std::move(value), {{kLabel, consumer.name}}});
    }
  }
  return all;
}

std::vector<MetricDeclaration> consumer_metric_declarations() {
  std::vector<MetricDeclaration> all;
  for (const MetricInfo& info :
       {kBehind, kLag, kRunning, kFailing, kFailures, kBlocked, kWaitingAccounts}) {
    all.push_back({info, MetricKind::Gauge, kLabel});
  }
  return all;
}

}  // namespace skua::status
