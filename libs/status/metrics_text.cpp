#include "status/metrics_text.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "status/lag.hpp"
#include "status/line_layout.hpp"
#include "store/clock_watch.hpp"

namespace skua::status {
namespace {

std::string rate_text(double rate, const char* unit) {
  const bool is_small = rate > 0 && rate < 9.95;
  return fmt::format("{:.{}f} {}/s", rate, is_small ? 1 : 0, unit);
}

std::string connection_text(const Metrics& now) {
  if (!now.connected) return "not connected";
  const auto lag = lag_of(now);
  return "lag " + (lag ? lag_text(*lag) : "-");
}

std::string cursor_text(const Metrics& now) {
  return now.cursor ? fmt::format("cursor {}", *now.cursor) : "cursor -";
}

/// Nothing when nothing was committed.
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
  // No -0.0.
  const double rounded = std::round(bytes / (is_large ? 1e8 : 1e5)) / 10 + 0.0;
  return fmt::format("disk {:+.1f} {}/min", rounded, is_large ? "GB" : "MB");
}

std::vector<std::string> source_parts(const Metrics& now) {
  if (now.role == Metrics::Role::Standby) return {now.source + " standby", cursor_text(now)};
  return {now.source + (now.role == Metrics::Role::Active ? " active" : ""), connection_text(now),
          cursor_text(now)};
}

std::vector<std::string> problem_parts(const std::vector<std::string_view>& problems) {
  std::vector<std::string> parts(problems.begin(), problems.end());
  parts.front().insert(0, "problems: ");
  return parts;
}

}  // namespace

std::string outage_text(const store::Outage& outage, Timestamp now) {
  const auto lasted = std::chrono::duration_cast<std::chrono::seconds>(now - outage.since);
  return fmt::format("database down since {} ({})", clock_time(outage.since),
                     duration_text(std::max(lasted, std::chrono::seconds(0))));
}

std::string metrics_text(const Rates& rates, const std::vector<Metrics>& sources,
                         const std::optional<store::Outage>& outage,
                         const std::vector<std::string_view>& problems) {
  const Metrics all = total(sources);
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
    if (const auto difference = store::clock_difference_text(*all.server_clock_ahead)) {
      parts.push_back("clock " + *difference + " PostgreSQL's");
    }
  }
  add_count("dead_letters", "dead letters");
  std::string text = laid_out(parts);
  if (!problems.empty()) text += "\n" + indented(problem_parts(problems));
  if (sources.size() == 1) return text;
  for (const Metrics& source : sources) text += "\n" + indented(source_parts(source));
  return text;
}

}  // namespace skua::status
