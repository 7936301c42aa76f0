#include "status/consumer_metrics.hpp"

#include <chrono>
#include <cstdint>
#include <utility>

#include "feed/consumers/consumer_table.hpp"

namespace skua::status {
namespace {

constexpr const char* kLabel = "consumer";

constexpr MetricInfo kBehind{"", "skua_consumer_behind_changes", "changes",
                             "Changes that the slowest lane of the consumer has not processed"};
constexpr MetricInfo kLag{"", "skua_consumer_lag_seconds", "seconds",
                          "Age of the oldest change that the consumer has not processed"};
constexpr MetricInfo kRunning{"", "skua_consumer_running", "none",
                              "State of the consumer: 1 if it processes changes, otherwise 0"};
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
  values.push_back({kRunning, MetricKind::Gauge, consumer.state == "running" && !consumer.paused});
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
  for (const MetricInfo& info : {kBehind, kLag, kRunning, kBlocked, kWaitingAccounts}) {
    all.push_back({info, MetricKind::Gauge, kLabel});
  }
  return all;
}

}  // namespace skua::status
