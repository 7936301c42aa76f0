#include "metric_list.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/metric_registry.hpp"

namespace skua::cli {
namespace {

/// The parts that are not empty, with commas; `otherwise` if there is none.
std::string list_of(const std::vector<std::string>& parts, std::string_view otherwise) {
  std::string list;
  for (const std::string& part : parts) {
    if (!part.empty()) list += (list.empty() ? "" : ", ") + part;
  }
  return list.empty() ? std::string(otherwise) : list;
}

std::vector<std::string> labels_of(const status::MetricDeclaration& metric) {
  return {metric.label, metric.info.label};
}

std::vector<std::string> keys_of(const status::MetricDeclaration& metric) {
  const std::string key = metric.info.key;
  if (metric.kind == MetricKind::Histogram) return {key + "_p50", key + "_p99"};
  return {key};
}

}  // namespace

std::string metric_list_text() {
  std::string text =
      "Metrics of `skua run`, `skua backfill` and `skua serve`: the name and the labels in "
      "Prometheus, and the "
      "key "
      "in the JSON of `skua status --json`.\n";
  for (const status::MetricDeclaration& metric : app::metric_registry()) {
    text += fmt::format("\n{}\n  {}\n  {}, unit: {}, labels: {}, key: {}\n", metric.info.name,
                        metric.info.help, name_of(metric.kind), list_of({metric.info.unit}, "none"),
                        list_of(labels_of(metric), "none"), list_of(keys_of(metric), "none"));
  }
  return text;
}

std::string metric_list_markdown() {
  std::string text =
      "| name | kind | unit | labels | key in JSON | meaning |\n|---|---|---|---|---|---|\n";
  for (const status::MetricDeclaration& metric : app::metric_registry()) {
    std::vector<std::string> keys = keys_of(metric);
    for (std::string& key : keys) {
      if (!key.empty()) key = fmt::format("`{}`", key);
    }
    text +=
        fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", metric.info.name, name_of(metric.kind),
                    list_of({metric.info.unit}, "none"), list_of(labels_of(metric), "none"),
                    list_of(keys, "none"), metric.info.help);
  }
  return text;
}

}  // namespace skua::cli
