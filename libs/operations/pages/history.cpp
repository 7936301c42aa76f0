#include "pages/history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <variant>

#include <fmt/format.h>

namespace skua::pages {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

double seconds_of(Timestamp time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

/// Returns `points` in brackets. The function `print` formats the point with an index.
template <class Print>
std::string array_text(std::size_t size, const Print& print) {
  std::string text = "[";
  for (std::size_t i = 0; i < size; ++i) {
    if (i > 0) text += ',';
    text += print(i);
  }
  return text + ']';
}

}  // namespace

std::optional<double> quantile_between(const LatencyHistogram::Counts& before,
                                       const LatencyHistogram::Counts& now, double quantile) {
  if (before == now || !std::ranges::equal(before, now, std::ranges::less_equal())) {
    return std::nullopt;
  }
  const auto added = LatencyHistogram::between(before, now);
  return std::chrono::duration<double>(LatencyHistogram::quantile(added, quantile)).count();
}

void History::add(const std::vector<status::LabelledMetric>& metrics, Timestamp now) {
  const std::size_t before = (next_ + kSamples - 1) % kSamples;
  const double seconds = count_ == 0 ? 0 : seconds_of(now) - times_.at(before);
  times_.at(next_) = seconds_of(now);
  std::map<std::string_view, Total> totals;
  for (const auto& [metric, labels] : metrics) {
    // A metric with a text has no history.
    if (std::holds_alternative<std::string>(metric.value)) continue;
    Series& series = series_[metric.info.name];
    series.kind = metric.kind;
    series.is_time = std::string_view(metric.info.unit) == "seconds";
    add_value(totals[metric.info.name], metric.value);
  }
  for (auto& [name, series] : series_) {
    for (auto& [what, points] : series.points) points.at(next_) = kUnknown;
    const Total& total = totals[name];
    if (total.is_known) add_points(series, total, seconds);
    series.latest = total;
  }
  next_ = (next_ + 1) % kSamples;
  count_ = std::min(count_ + 1, kSamples);
}

void History::add_value(Total& total, const MetricValue::Value& value) {
  const auto add_number = [&](double number) {
    total.largest = total.is_known ? std::max(total.largest, number) : number;
    total.sum += number;
    total.is_known = true;
  };
  if (const auto* counts = std::get_if<LatencyHistogram::Counts>(&value)) {
    for (std::size_t i = 0; i < counts->size(); ++i) total.counts.at(i) += counts->at(i);
    total.is_known = true;
  } else if (const auto* by_label = std::get_if<CountsByLabel>(&value)) {
    for (const auto& [label, count] : *by_label) add_number(static_cast<double>(count));
  } else if (const auto* time = std::get_if<Timestamp>(&value)) {
    add_number(seconds_of(*time));
  } else if (const auto* is_so = std::get_if<bool>(&value)) {
    add_number(*is_so ? 1 : 0);
  } else if (const auto* whole = std::get_if<std::uint64_t>(&value)) {
    add_number(static_cast<double>(*whole));
  } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
    add_number(static_cast<double>(*number));
  } else if (const auto* real = std::get_if<double>(&value)) {
    add_number(*real);
  }
}

void History::add_points(Series& series, const Total& total, double seconds) {
  if (series.kind == MetricKind::Gauge) {
    return set(series, "value", series.is_time ? total.largest : total.sum);
  }
  const Total& before = series.latest;
  if (!before.is_known || seconds <= 0) return;
  if (series.kind == MetricKind::Counter) {
    // A counter that fell belongs to another run of its process, so it has no growth.
    if (total.sum >= before.sum) set(series, "per_second", (total.sum - before.sum) / seconds);
    return;
  }
  set(series, "p50", quantile_between(before.counts, total.counts, 0.5).value_or(kUnknown));
  set(series, "p99", quantile_between(before.counts, total.counts, 0.99).value_or(kUnknown));
}

void History::set(Series& series, const char* what, double value) {
  auto found = series.points.find(what);
  if (found == series.points.end()) {
    found = series.points.emplace(what, Points()).first;
    found->second.fill(kUnknown);
  }
  found->second.at(next_) = static_cast<float>(value);
}

std::string History::json(const std::vector<std::string>& names) const {
  const std::size_t oldest = (next_ + kSamples - count_) % kSamples;
  const auto place = [&](std::size_t i) { return (oldest + i) % kSamples; };
  std::string text = fmt::format(R"({{"interval_seconds":{},"times":{},"metrics":{{)",
                                 kInterval.count(), array_text(count_, [&](std::size_t i) {
                                   return fmt::format("{:.0f}", times_.at(place(i)));
                                 }));
  bool is_first = true;
  for (const auto& [name, series] : series_) {
    if (!names.empty() && std::ranges::find(names, name) == names.end()) continue;
    if (series.points.empty()) continue;
    text += fmt::format(R"({}"{}":{{)", is_first ? "" : ",", name);
    is_first = false;
    for (const auto& [what, points] : series.points) {
      text += fmt::format(R"({}"{}":{})", what == series.points.begin()->first ? "" : ",", what,
                          array_text(count_, [&, &points = points](std::size_t i) {
                            const float point = points.at(place(i));
                            return std::isfinite(point) ? fmt::format("{:.5g}", point)
                                                        : std::string("null");
                          }));
    }
    text += '}';
  }
  return text + "}}\n";
}

}  // namespace skua::pages
