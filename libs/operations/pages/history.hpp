#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/metric.hpp"
#include "base/time.hpp"
#include "status/metrics_text.hpp"

namespace skua::pages {

/// Returns the quantile (0 to 1) of the values that a histogram counted between two moments, in
/// seconds; nothing if it counted nothing, or fell because it belongs to another run.
std::optional<double> quantile_between(const LatencyHistogram::Counts& before,
                                       const LatencyHistogram::Counts& now, double quantile);

/// Keeps the values of every metric over the last hour, for charts. The kind of a metric determines
/// which values are kept, for all its labels together:
///
/// - of a counter its growth per second (`per_second`);
/// - of a gauge its sum (`value`), or the largest value if it is a time in seconds;
/// - of a histogram the quantiles of what was added (`p50`, `p99`), in seconds.
///
/// Bounded: about 4 kB for each metric. A point is null if nothing was counted, the metric is
/// missing, or a counter fell. Not thread-safe.
class History {
 public:
  static constexpr std::chrono::seconds kInterval{5};
  static constexpr std::size_t kSamples = 720;

  /// Adds a sample. The caller must add one every `kInterval`.
  void add(const std::vector<status::LabelledMetric>& metrics, Timestamp now);

  /// Returns `{"interval_seconds", "times", "metrics": {NAME: {"per_second": [...]}}}` of the
  /// metrics with these names, or of all if there is no name. Times are seconds since 1970, the
  /// oldest first. Numbers have five digits.
  std::string json(const std::vector<std::string>& names) const;

 private:
  /// A ring of points; NaN marks an unknown point.
  using Points = std::array<float, kSamples>;

  struct Total {
    double sum = 0;
    double largest = 0;
    /// The counts of a histogram.
    LatencyHistogram::Counts counts{};
    bool is_known = false;
  };
  struct Series {
    MetricKind kind = MetricKind::Gauge;
    bool is_time = false;
    Total latest;
    /// The points by their names, such as `per_second`.
    std::map<std::string, Points> points;
  };

  static void add_value(Total& total, const MetricValue::Value& value);
  void add_points(Series& series, const Total& total, double seconds);
  void set(Series& series, const char* what, double value);

  std::map<std::string, Series> series_;
  std::array<double, kSamples> times_{};
  /// The place of the next sample in the ring, and the number of samples.
  std::size_t next_ = 0;
  std::size_t count_ = 0;
};

}  // namespace skua::pages
