#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/latency_histogram.hpp"
#include "status/prometheus_text.hpp"

namespace skua::pages {

/// The page `/status/process`, which `skua top` draws: what a process knows of its sources, workers
/// and collections, with rates. Rates are means over about ten seconds, those of collections over
/// about a minute. It keeps 13 samples, each with two counters for each source and one for each
/// worker and collection: about 0.2 MB with a hundred sources. One thread.
class ProcessStatus {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Metrics = std::vector<status::LabelledMetric>;

  /// The numbers of metrics at one time.
  struct Sample {
    TimePoint at;
    /// By the name of the metric, and by the value of its own label, or of its source.
    std::map<std::string_view, std::map<std::string, double>> numbers = {};
    LatencyHistogram::Counts latency{};
  };

  /// Whether a sample is due: five seconds after the last one, or at once while the process counts
  /// nothing yet.
  bool is_due(TimePoint now) const;
  /// Adds a sample.
  void add(const Metrics& metrics, TimePoint now);

  /// The page as JSON. A number that is not known is null. `quiet`: the collections whose events
  /// stopped.
  std::string json(const Metrics& metrics, const std::vector<std::string>& quiet,
                   TimePoint now) const;

 private:
  /// The oldest sample of this time before `now`; null: there is none.
  const Sample* before(TimePoint now, std::chrono::milliseconds time) const;

  std::deque<Sample> samples_;
};

}  // namespace skua::pages
