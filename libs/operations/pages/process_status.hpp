#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/metric.hpp"
#include "pipeline/source_state.hpp"
#include "status/metrics_text.hpp"

namespace skua::pages {

/// The state of a process that is known without a query to the database.
struct ProcessState {
  using TimePoint = std::chrono::steady_clock::time_point;

  enum class Phase : std::uint8_t { Starting, Running, Stopping };

  Phase phase = Phase::Starting;
  /// True if the process writes to the database.
  bool writes = true;
  std::vector<pipeline::SourceState> sources = {};
  /// How far PostgreSQL's clock is ahead of the local clock; nothing if it is unknown.
  std::optional<std::chrono::microseconds> server_clock_ahead = std::nullopt;
  /// The number of messages that are held because the clocks of both machines seem to be slow.
  std::uint64_t frames_held = 0;
  /// The number of requests to the PLC directory that failed since its last answer, and the time of
  /// the last failure.
  std::uint64_t directory_failures = 0;
  TimePoint directory_failed_at{};
  /// The number of requests for the directory's export that failed since its last answer, and the
  /// time of the last failure.
  std::uint64_t plc_tail_failures = 0;
  TimePoint plc_tail_failed_at{};
  /// The number of record operations that were read since the start, by collection.
  CountsByLabel collections = {};
  /// The number of messages that were dropped since the start because their account exceeded its
  /// budget.
  std::uint64_t cut_off = 0;
};

/// Shows whether a loop of the process continues. The loop calls `beat` in each round, and `rest`
/// before work that may take any time. Any thread.
class Heartbeat {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// A loop that does not beat for this time is stuck. A round takes at most a second.
  static constexpr std::chrono::seconds kStuck{30};

  explicit Heartbeat(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  void beat(TimePoint now) { latest_ = now; }
  /// Marks the loop as not stuck until the next beat.
  void rest() { latest_ = TimePoint::max(); }
  bool is_stuck(TimePoint now) const {
    const TimePoint latest = latest_;
    return latest != TimePoint::max() && now - latest >= kStuck;
  }

 private:
  const std::string name_;
  std::atomic<TimePoint> latest_{TimePoint::max()};
};

/// The page `/status/process`, which `skua top` shows: the sources, workers and collections of a
/// process, with rates. Rates are means over about ten seconds, those of collections over about a
/// minute. Keeps 13 samples, each with two counters for each source and one for each worker and
/// collection: about 0.2 MB with a hundred sources. One thread.
class ProcessStatus {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Metrics = std::vector<status::LabelledMetric>;

  /// The numbers of metrics at one time.
  struct Sample {
    TimePoint at;
    /// The numbers by the name of the metric, and by the value of its own label, or of its source.
    std::map<std::string_view, std::map<std::string, double>> numbers = {};
    LatencyHistogram::Counts latency{};
  };

  /// Returns whether a sample is due: five seconds after the last sample, or at once while the
  /// process counts nothing yet.
  bool is_due(TimePoint now) const;
  void add(const Metrics& metrics, TimePoint now);

  /// Returns the page as JSON. An unknown number is null. `quiet` has the collections whose events
  /// stopped.
  std::string json(const Metrics& metrics, const std::vector<std::string>& quiet,
                   TimePoint now) const;

 private:
  /// Returns the oldest sample that is at most `time` older than `now`; null if there is none.
  const Sample* before(TimePoint now, std::chrono::milliseconds time) const;

  std::deque<Sample> samples_;
};

}  // namespace skua::pages
