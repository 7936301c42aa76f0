#include "status/prometheus_text.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include <fmt/format.h>

namespace skua::status {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

/// Help texts escape backslashes and line feeds, label values also quotes.
std::string escaped_text(std::string_view text, bool is_label) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') {
      escaped += "\\n";
      continue;
    }
    if (c == '\\' || (is_label && c == '"')) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// Writes the samples of one metric.
class SampleWriter {
 public:
  SampleWriter(std::string& text, const LabelledMetric& labelled)
      : text_(text), info_(labelled.metric.info), labels_(labelled.labels) {}

  void operator()(std::uint64_t value) { write("", labels_, value); }
  void operator()(std::int64_t value) { write("", labels_, value); }
  void operator()(double value) { write("", labels_, value); }
  void operator()(bool value) { write("", labels_, value ? 1 : 0); }
  void operator()(Timestamp time) {
    write("", labels_, std::chrono::duration<double>(time.time_since_epoch()).count());
  }
  void operator()(const std::string& value) { write("", with(info_.label, value), 1); }
  void operator()(const CountsByLabel& counts) {
    for (const auto& [value, count] : counts) write("", with(info_.label, value), count);
  }

  /// Two buckets for each power of two: each has two of the histogram's.
  void operator()(const LatencyHistogram::Counts& counts) {
    constexpr std::size_t kTogether = 2;
    std::uint64_t all = 0;
    double sum = 0;
    std::int64_t lower = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto upper = static_cast<std::int64_t>(LatencyHistogram::upper_bound(i).count());
      all += counts[i];
      sum += static_cast<double>(counts[i]) * static_cast<double>(lower + upper) / 2;
      lower = upper + 1;
      const bool is_bound = i % kTogether == kTogether - 1 && i + 1 < counts.size();
      if (is_bound) write("_bucket", with("le", fmt::format("{}", seconds(upper))), all);
    }
    write("_bucket", with("le", "+Inf"), all);
    write("_sum", labels_, sum / kMicroseconds);
    write("_count", labels_, all);
  }

 private:
  static constexpr double kMicroseconds = 1e6;

  static double seconds(std::int64_t microseconds) {
    return static_cast<double>(microseconds) / kMicroseconds;
  }

  Labels with(std::string name, std::string value) const {
    Labels labels = labels_;
    labels.emplace_back(std::move(name), std::move(value));
    return labels;
  }

  template <class Number>
  void write(std::string_view suffix, const Labels& labels, Number value) {
    text_ += info_.name;
    text_ += suffix;
    char separator = '{';
    for (const auto& [name, label] : labels) {
      text_ += fmt::format("{}{}=\"{}\"", separator, name, escaped_text(label, true));
      separator = ',';
    }
    if (!labels.empty()) text_ += '}';
    text_ += fmt::format(" {}\n", value);
  }

  std::string& text_;
  const MetricInfo& info_;
  const Labels& labels_;
};

}  // namespace

std::vector<LabelledMetric> labelled(const std::vector<Metrics>& sources) {
  std::vector<LabelledMetric> all;
  bool has_process = false;
  for (const Metrics& source : sources) {
    const bool is_standby = source.role == Metrics::Role::Standby;
    for (ScopedMetric& each : all_metrics(source)) {
      if (is_standby && each.scope != MetricScope::Source) continue;
      if (each.scope != MetricScope::Process) {
        all.push_back({std::move(each.metric), {{"source", source.source}}});
      } else if (!has_process) {
        all.push_back({std::move(each.metric)});
      }
    }
    has_process = has_process || !is_standby;
  }
  return all;
}

std::vector<LabelledMetric> labelled(std::vector<MetricValue> metrics) {
  std::vector<LabelledMetric> all;
  all.reserve(metrics.size());
  for (MetricValue& metric : metrics) all.push_back({std::move(metric)});
  return all;
}

std::vector<LabelledMetric> labelled(const backfill::BackfillMetrics& metrics,
                                     const BackfillRates& rates) {
  return labelled(all_metrics(metrics, rates));
}

std::string prometheus_text(const std::vector<LabelledMetric>& metrics) {
  std::string text;
  std::vector<bool> is_written(metrics.size());
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (is_written[i]) continue;
    const MetricInfo& info = metrics[i].metric.info;
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", info.name,
                        escaped_text(info.help, false), name_of(metrics[i].metric.kind));
    for (std::size_t k = i; k < metrics.size(); ++k) {
      if (std::string_view(metrics[k].metric.info.name) != info.name) continue;
      std::visit(SampleWriter(text, metrics[k]), metrics[k].metric.value);
      is_written[k] = true;
    }
  }
  return text;
}

}  // namespace skua::status
