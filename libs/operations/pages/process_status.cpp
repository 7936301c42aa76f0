#include "pages/process_status.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "pages/history.hpp"

namespace skua::pages {

namespace {

using Json = nlohmann::ordered_json;
using Sample = ProcessStatus::Sample;
using std::chrono::milliseconds;

constexpr milliseconds kApart{5'000};
// Half an interval between samples is added: the oldest sample within this time is then the closest
// to ten seconds, or to a minute.
constexpr milliseconds kTenSeconds{12'500};
constexpr milliseconds kMinute{62'500};
/// A rate over a shorter time is not meaningful.
constexpr milliseconds kLeast{1'000};

/// The counters that have rates. Samples keep only these.
constexpr std::array<std::string_view, 6> kRated = {
    "skua_events_total",   "skua_rows_total",          "skua_messages_total",
    "skua_verified_total", "skua_worker_events_total", "skua_collection_operations_total"};
constexpr std::string_view kConnected = "skua_connected";
constexpr std::string_view kLatency = "skua_commit_latency_seconds";

std::string source_of(const status::LabelledMetric& metric) {
  for (const auto& [name, value] : metric.labels) {
    if (name == "source") return value;
  }
  return {};
}

Json or_null(const std::optional<double>& number) {
  return number ? Json(*number) : Json();
}

Json whole_or_null(const std::optional<double>& number) {
  return number ? Json(static_cast<std::int64_t>(*number)) : Json();
}

std::optional<double> number(const Sample& sample, std::string_view metric,
                             const std::string& label) {
  const auto numbers = sample.numbers.find(metric);
  if (numbers == sample.numbers.end()) return std::nullopt;
  const auto found = numbers->second.find(label);
  return found == numbers->second.end() ? std::nullopt : std::optional(found->second);
}

/// Returns the sum over all labels; nothing if there is no such metric.
std::optional<double> sum(const Sample& sample, std::string_view metric) {
  const auto numbers = sample.numbers.find(metric);
  if (numbers == sample.numbers.end()) return std::nullopt;
  double sum = 0;
  for (const auto& [label, number] : numbers->second) sum += number;
  return sum;
}

/// Returns the growth of a counter per second; nothing if `before` is null, one of the samples does
/// not have the counter, or it fell.
std::optional<double> rate(const Sample* before, const Sample& now, std::string_view metric,
                           const std::string& label = {}) {
  const auto former = before == nullptr ? std::nullopt : number(*before, metric, label);
  const auto present = number(now, metric, label);
  if (!former || !present || *present < *former) return std::nullopt;
  return (*present - *former) / std::chrono::duration<double>(now.at - before->at).count();
}

/// Adds the number of a metric to a sample. Texts and times are ignored.
class NumberAdder {
 public:
  NumberAdder(const status::LabelledMetric& metric, Sample& sample)
      : metric_(metric), sample_(sample) {}

  template <class Number>
  void operator()(const Number& number) requires std::is_arithmetic_v<Number> {
    add(source_of(metric_), static_cast<double>(number));
  }
  void operator()(Timestamp /*time*/) {}
  void operator()(const std::string& /*text*/) {}
  void operator()(const CountsByLabel& counts) {
    for (const auto& [label, count] : counts) add(label, static_cast<double>(count));
  }
  void operator()(const LatencyHistogram::Counts& counts) {
    if (metric_.metric.info.name != kLatency) return;
    for (std::size_t i = 0; i < counts.size(); ++i) sample_.latency.at(i) += counts.at(i);
  }

 private:
  void add(const std::string& label, double number) {
    sample_.numbers[metric_.metric.info.name][label] += number;
  }

  const status::LabelledMetric& metric_;
  Sample& sample_;
};

Sample sample_of(const ProcessStatus::Metrics& metrics, ProcessStatus::TimePoint now) {
  Sample sample{now};
  for (const auto& metric : metrics) {
    std::visit(NumberAdder(metric, sample), metric.metric.value);
  }
  return sample;
}

/// Returns the sources in the order of the metrics.
Json sources_json(const ProcessStatus::Metrics& metrics, const Sample* before, const Sample& now) {
  Json sources = Json::array();
  std::map<std::string, std::size_t> places;
  for (const auto& metric : metrics) {
    const bool* const connected = std::get_if<bool>(&metric.metric.value);
    if (connected == nullptr || metric.metric.info.name != kConnected) continue;
    const std::string source = source_of(metric);
    places[source] = sources.size();
    // Without a connection no event arrives and none waits, so the lag is unknown.
    const auto lag = *connected ? number(now, "skua_lag_seconds", source) : std::nullopt;
    sources.push_back(
        {{"source", source},
         {"is_connected", *connected},
         {"role", nullptr},
         {"cursor", whole_or_null(number(now, "skua_cursor", source))},
         {"lag_seconds", or_null(lag)},
         {"messages_per_second", or_null(rate(before, now, "skua_messages_total", source))},
         {"verified_per_second", or_null(rate(before, now, "skua_verified_total", source))},
         {"waiting_accounts", whole_or_null(number(now, "skua_waiting_accounts", source))},
         {"dropped", Json::object()}});
  }
  for (const auto& metric : metrics) {
    const auto place = places.find(source_of(metric));
    if (place == places.end()) continue;
    Json& source = sources[place->second];
    const std::string_view name = metric.metric.info.name;
    if (name == "skua_role") source["role"] = std::get<std::string>(metric.metric.value);
    if (name != "skua_dropped_total") continue;
    for (const auto& [reason, count] : std::get<CountsByLabel>(metric.metric.value)) {
      if (count > 0) source["dropped"][reason] = count;
    }
  }
  return sources;
}

/// Returns the workers in the order of the metric's labels.
Json workers_json(const ProcessStatus::Metrics& metrics, const Sample* before, const Sample& now) {
  Json workers = Json::array();
  for (const auto& metric : metrics) {
    if (std::string_view(metric.metric.info.name) != "skua_worker_queued_events") continue;
    for (const auto& [worker, queued] : std::get<CountsByLabel>(metric.metric.value)) {
      const auto per_second = rate(before, now, "skua_worker_events_total", worker);
      workers.push_back({{"worker", worker},
                         {"queued_events", queued},
                         {"events_per_second", or_null(per_second)}});
    }
  }
  return workers;
}

/// Returns the collections with operations, the most frequent first.
Json collections_json(const std::vector<std::string>& quiet, const Sample* before,
                      const Sample& now) {
  constexpr std::string_view kOperations = "skua_collection_operations_total";
  Json collections = Json::array();
  const auto counts = now.numbers.find(kOperations);
  if (counts == now.numbers.end()) return collections;
  std::vector<std::pair<std::string, double>> sorted(counts->second.begin(), counts->second.end());
  std::ranges::stable_sort(sorted, std::ranges::greater(),
                           [](const auto& each) { return each.second; });
  for (const auto& [collection, count] : sorted) {
    if (count <= 0) break;
    collections.push_back({{"collection", collection},
                           {"operations", whole_or_null(count)},
                           {"per_second", or_null(rate(before, now, kOperations, collection))},
                           {"is_quiet", std::ranges::find(quiet, collection) != quiet.end()}});
  }
  return collections;
}

/// Returns the largest lag of the sources; null if none is known.
Json largest_lag(const Json& sources) {
  Json largest;
  for (const Json& source : sources) {
    const Json& lag = source["lag_seconds"];
    if (largest.is_null() || (!lag.is_null() && lag > largest)) largest = lag;
  }
  return largest;
}

}  // namespace

bool ProcessStatus::is_due(TimePoint now) const {
  return samples_.empty() || samples_.back().numbers.empty() || now - samples_.back().at >= kApart;
}

void ProcessStatus::add(const Metrics& metrics, TimePoint now) {
  if (!samples_.empty() && samples_.back().numbers.empty()) samples_.pop_back();
  Sample sample = sample_of(metrics, now);
  std::erase_if(sample.numbers, [](const auto& metric) {
    return std::ranges::find(kRated, metric.first) == kRated.end();
  });
  samples_.push_back(std::move(sample));
  while (now - samples_.front().at > kMinute) samples_.pop_front();
}

const Sample* ProcessStatus::before(TimePoint now, milliseconds time) const {
  const auto found =
      std::ranges::find_if(samples_, [&](const Sample& sample) { return now - sample.at <= time; });
  return found == samples_.end() || now - found->at < kLeast ? nullptr : &*found;
}

std::string ProcessStatus::json(const Metrics& metrics, const std::vector<std::string>& quiet,
                                TimePoint at) const {
  const Sample now = sample_of(metrics, at);
  const Sample* const recent = before(at, kTenSeconds);
  const auto latency = recent == nullptr ? LatencyHistogram::Counts{} : recent->latency;
  const Json sources = sources_json(metrics, recent, now);
  const Json page = {{"events_per_second", or_null(rate(recent, now, "skua_events_total"))},
                     {"rows_per_second", or_null(rate(recent, now, "skua_rows_total"))},
                     {"lag_seconds", largest_lag(sources)},
                     {"commit_latency_seconds",
                      {{"p50", or_null(quantile_between(latency, now.latency, 0.5))},
                       {"p99", or_null(quantile_between(latency, now.latency, 0.99))}}},
                     {"in_flight_messages", whole_or_null(sum(now, "skua_in_flight_messages"))},
                     {"dead_letters", whole_or_null(sum(now, "skua_dead_letters_total"))},
                     {"sources", sources},
                     {"workers", workers_json(metrics, recent, now)},
                     {"collections", collections_json(quiet, before(at, kMinute), now)}};
  return page.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace skua::pages
