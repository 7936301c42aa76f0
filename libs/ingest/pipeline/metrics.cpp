#include "pipeline/metrics.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "pipeline/metric_json.hpp"

namespace skua::pipeline {
namespace {

/// The value of a metric, or nothing if there is no value now.
using Reading = std::optional<MetricValue::Value>;

/// A metric that is read from the state of a source.
struct StateMetric {
  MetricScope scope;
  MetricKind kind;
  MetricInfo info;
  Reading (*read)(const Metrics&);
};

template <class T>
Reading if_known(const std::optional<T>& value) {
  return value ? Reading(*value) : std::nullopt;
}

template <class Duration>
Reading seconds_if_known(const std::optional<Duration>& duration) {
  if (!duration) return std::nullopt;
  return std::chrono::duration<double>(*duration).count();
}

Reading role_of(const Metrics& metrics) {
  switch (metrics.role) {
    case Metrics::Role::Active:
      return std::string("active");
    case Metrics::Role::Standby:
      return std::string("standby");
    case Metrics::Role::Alone:
      break;
  }
  return std::nullopt;
}

const StateMetric kStateMetrics[] = {
    {MetricScope::Source,
     MetricKind::Gauge,
     {"started_at", "skua_start_time_seconds", "seconds",
      "Time at which the process began to read"},
     [](const Metrics& metrics) -> Reading { return metrics.started_at; }},
    {MetricScope::Source,
     MetricKind::Gauge,
     {"connected", "skua_connected", "",
      "State of the connection: 1 if the source is connected, otherwise 0"},
     [](const Metrics& metrics) -> Reading { return metrics.connected; }},
    {MetricScope::Source,
     MetricKind::Gauge,
     {"role", "skua_role", "",
      "Role of a relay among several, as a label: active or standby; missing for a single source",
      "role"},
     role_of},
    {MetricScope::Source,
     MetricKind::Gauge,
     {"is_verified", "skua_is_verified", "",
      "State of the verification: 1 if signatures are checked, otherwise 0"},
     [](const Metrics& metrics) -> Reading { return metrics.is_verified; }},
    {MetricScope::Source,
     MetricKind::Gauge,
     {"cursor", "skua_cursor", "",
      "Position in the stream up to which all events are committed; missing until it is known"},
     [](const Metrics& metrics) { return if_known(metrics.cursor); }},
    {MetricScope::Pipeline,
     MetricKind::Gauge,
     {"newest", "skua_newest_event_time_seconds", "seconds",
      "Time of the newest event that was read, by the host's clock"},
     [](const Metrics& metrics) { return if_known(metrics.newest); }},
    {MetricScope::Pipeline,
     MetricKind::Gauge,
     {"committed", "skua_committed_event_time_seconds", "seconds",
      "Time of the newest event that is committed, by the host's clock"},
     [](const Metrics& metrics) { return if_known(metrics.committed); }},
    {MetricScope::Pipeline,
     MetricKind::Gauge,
     {"lag_seconds", "skua_lag_seconds", "seconds",
      "Current time minus the time of the newest committed event while other events wait; 0 if no "
      "event waits"},
     [](const Metrics& metrics) { return seconds_if_known(lag_of(metrics)); }},
    {MetricScope::Pipeline,
     MetricKind::Histogram,
     {"commit_ms", "skua_commit_latency_seconds", "seconds",
      "Time from the arrival of a message to its commit; the sum is estimated from the buckets, "
      "with an error of at most 13 %"},
     [](const Metrics& metrics) -> Reading { return metrics.latency; }},
    {MetricScope::Process,
     MetricKind::Gauge,
     {"server_clock_ahead_seconds", "skua_server_clock_ahead_seconds", "seconds",
      "Time on PostgreSQL's clock minus time on the local clock"},
     [](const Metrics& metrics) { return seconds_if_known(metrics.server_clock_ahead); }},
};

const MetricValue& find(const Metrics& metrics, std::string_view key) {
  const auto found = std::ranges::find_if(
      metrics.counts, [&](const ScopedMetric& each) { return each.metric.info.key == key; });
  if (found == metrics.counts.end()) {
    throw std::out_of_range("no count has the key '" + std::string(key) + "'");
  }
  return found->metric;
}

/// Adds the counts of another source of the process, which has the same metrics.
void add_counts(Metrics& sum, const Metrics& other) {
  for (auto& [scope, metric] : sum.counts) {
    auto* count = std::get_if<std::uint64_t>(&metric.value);
    if (scope == MetricScope::Process || count == nullptr || *metric.info.key == '\0') continue;
    *count += other.count(metric.info.key);
  }
}

}  // namespace

void Metrics::add(MetricScope scope, std::vector<MetricValue> values) {
  for (MetricValue& value : values) counts.push_back({scope, std::move(value)});
}

std::uint64_t Metrics::count(std::string_view key) const {
  return std::get<std::uint64_t>(find(*this, key).value);
}

std::map<std::string, std::uint64_t> Metrics::counts_by_label(std::string_view key) const {
  std::map<std::string, std::uint64_t> counted;
  for (const auto& [label, count] : std::get<CountsByLabel>(find(*this, key).value)) {
    if (count > 0) counted[label] = count;
  }
  return counted;
}

std::optional<Timestamp::duration> lag_of(const Metrics& metrics) {
  constexpr Timestamp::duration kNone{0};
  if (!metrics.newest) return std::nullopt;
  if (metrics.waiting == 0) return kNone;
  // After a quiet time the newest committed frame is older than the waiting frames, so the lag
  // counts from the oldest waiting frame.
  std::optional<Timestamp> reached = std::max(metrics.committed, metrics.oldest_waiting);
  if (!reached) reached = metrics.newest;
  return std::max(metrics.at - *reached, kNone);
}

std::vector<ScopedMetric> all_metrics(const Metrics& metrics) {
  std::vector<ScopedMetric> all;
  for (const StateMetric& state : kStateMetrics) {
    if (Reading value = state.read(metrics)) {
      all.push_back({state.scope, {state.info, state.kind, *std::move(value)}});
    }
  }
  std::ranges::copy(metrics.counts, std::back_inserter(all));
  return all;
}

std::string to_json(const Metrics& metrics) {
  nlohmann::json object = nlohmann::json::object();
  for (const ScopedMetric& each : all_metrics(metrics)) add_to(object, each.metric);
  return object.dump();
}

std::vector<MetricDeclaration> declarations(const Metrics& metrics) {
  std::vector<MetricDeclaration> all;
  const auto add = [&](MetricScope scope, MetricKind kind, const MetricInfo& info) {
    all.push_back({info, kind, scope == MetricScope::Process ? "" : "source"});
  };
  for (const StateMetric& state : kStateMetrics) add(state.scope, state.kind, state.info);
  for (const auto& [scope, metric] : metrics.counts) add(scope, metric.kind, metric.info);
  return all;
}

Metrics total(const std::vector<Metrics>& sources) {
  Metrics all;
  bool has_first = false;
  for (const Metrics& one : sources) {
    if (one.role == Metrics::Role::Standby) continue;
    if (!std::exchange(has_first, true)) {
      all = one;
      continue;
    }
    add_counts(all, one);
    for (std::size_t i = 0; i < all.latency.size(); ++i) all.latency[i] += one.latency[i];
  }
  return all;
}

}  // namespace skua::pipeline
