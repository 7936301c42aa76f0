#include "status/metrics_text.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "postgres/server_clock.hpp"
#include "status/line_layout.hpp"
#include "status/reports.hpp"

namespace skua::status {

namespace {

std::string rate_text(double rate, const char* unit) {
  const bool is_small = rate > 0 && rate < 9.95;
  return fmt::format("{:.{}f} {}/s", rate, is_small ? 1 : 0, unit);
}

std::string connection_text(const pipeline::Metrics& now) {
  if (!now.connected) return "not connected";
  const auto lag = pipeline::lag_of(now);
  return "lag " + (lag ? lag_text(*lag) : "-");
}

std::string cursor_text(const pipeline::Metrics& now) {
  return now.cursor ? fmt::format("cursor {}", *now.cursor) : "cursor -";
}

/// Returns nothing if nothing was committed.
std::optional<std::string> latency_text(const LatencyHistogram::Counts& counts) {
  const auto milliseconds = [&](double quantile) {
    return std::chrono::duration<double, std::milli>(LatencyHistogram::quantile(counts, quantile))
        .count();
  };
  if (milliseconds(0.99) <= 0) return std::nullopt;
  return fmt::format("p50/p99 {:.0f}/{:.0f} ms", milliseconds(0.5), milliseconds(0.99));
}

std::string disk_text(double bytes) {
  const bool is_large = std::abs(bytes) >= 1e9;
  // Adding 0.0 turns -0.0 into 0.0.
  const double rounded = std::round(bytes / (is_large ? 1e8 : 1e5)) / 10 + 0.0;
  return fmt::format("disk {:+.1f} {}/min", rounded, is_large ? "GB" : "MB");
}

std::vector<std::string> source_parts(const pipeline::Metrics& now) {
  if (now.role == pipeline::Metrics::Role::Standby)
    return {now.source + " standby", cursor_text(now)};
  return {now.source + (now.role == pipeline::Metrics::Role::Active ? " active" : ""),
          connection_text(now), cursor_text(now)};
}

std::vector<std::string> problem_parts(const std::vector<std::string_view>& problems) {
  std::vector<std::string> parts(problems.begin(), problems.end());
  parts.front().insert(0, "problems: ");
  return parts;
}

using Labels = std::vector<std::pair<std::string, std::string>>;

/// In help texts backslashes and line feeds are escaped, in label values also quotes.
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

  /// Writes two buckets for each power of two. Each bucket joins two buckets of the histogram.
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

std::string outage_text(const postgres::Outage& outage, Timestamp now) {
  const auto lasted = std::chrono::duration_cast<std::chrono::seconds>(now - outage.since);
  return fmt::format("database down since {} ({})", clock_time(outage.since),
                     duration_text(std::max(lasted, std::chrono::seconds(0))));
}

std::string metrics_text(const Rates& rates, const std::vector<pipeline::Metrics>& sources,
                         const std::optional<postgres::Outage>& outage,
                         const std::vector<std::string_view>& problems) {
  const pipeline::Metrics all = pipeline::total(sources);
  std::vector<std::string> parts{clock_time(rates.at)};
  if (outage) {
    parts.push_back(outage_text(*outage, rates.at));
  } else {
    parts.push_back(rate_text(rates.events, "events"));
    parts.push_back(rate_text(rates.rows, "rows"));
  }
  if (sources.size() == 1 && all.is_live) parts.push_back(connection_text(all));
  if (const auto latency = latency_text(rates.latency); latency && !outage) {
    parts.push_back(*latency);
  }
  if (sources.size() == 1) parts.push_back(cursor_text(all));
  if (rates.disk_bytes && !outage) parts.push_back(disk_text(*rates.disk_bytes));
  const auto add_count = [&](const char* key, const char* what) {
    if (const auto count = all.count(key)) parts.push_back(fmt::format("{} {}", count, what));
  };
  add_count("accounts_waiting", "await keys");
  add_count("frames_held", "held by the clock");
  if (all.server_clock_ahead) {
    if (const auto difference = postgres::clock_difference_text(*all.server_clock_ahead)) {
      parts.push_back("clock " + *difference + " PostgreSQL's");
    }
  }
  add_count("dead_letters", "dead letters");
  std::string text = laid_out(parts);
  if (!problems.empty()) text += "\n" + indented(problem_parts(problems));
  if (sources.size() == 1) return text;
  for (const pipeline::Metrics& source : sources) text += "\n" + indented(source_parts(source));
  return text;
}

std::vector<LabelledMetric> labelled(const std::vector<pipeline::Metrics>& sources) {
  std::vector<LabelledMetric> all;
  bool has_process = false;
  for (const pipeline::Metrics& source : sources) {
    const bool is_standby = source.role == pipeline::Metrics::Role::Standby;
    for (pipeline::ScopedMetric& each : all_metrics(source)) {
      if (is_standby && each.scope != pipeline::MetricScope::Source) continue;
      if (each.scope != pipeline::MetricScope::Process) {
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
