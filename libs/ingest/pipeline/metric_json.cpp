#include "pipeline/metric_json.hpp"

#include <string>
#include <variant>

namespace skua::pipeline {
namespace {

nlohmann::json json_of(Timestamp time) {
  return format_datetime(time);
}

nlohmann::json json_of(const CountsByLabel& family) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [label, count] : family) {
    if (count > 0) object[label] = count;
  }
  return object;
}

template <class T>
nlohmann::json json_of(const T& value) {
  return value;
}

double milliseconds_at(const LatencyHistogram::Counts& counts, double quantile) {
  return static_cast<double>(LatencyHistogram::quantile(counts, quantile).count()) / 1'000;
}

}  // namespace

void add_to(nlohmann::json& object, const MetricValue& metric) {
  const std::string key = metric.info.key;
  if (key.empty()) return;
  if (const auto* histogram = std::get_if<LatencyHistogram::Counts>(&metric.value)) {
    object[key + "_p50"] = milliseconds_at(*histogram, 0.5);
    object[key + "_p99"] = milliseconds_at(*histogram, 0.99);
    return;
  }
  object[key] = std::visit([](const auto& value) { return json_of(value); }, metric.value);
}

}  // namespace skua::pipeline
