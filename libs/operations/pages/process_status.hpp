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

/// What a process knows of itself, without a question to the database.
struct ProcessState {
  using TimePoint = std::chrono::steady_clock::time_point;

  enum class Phase : std::uint8_t { Starting, Running, Stopping };

  Phase phase = Phase::Starting;
  /// Whether the process writes to the database.
  bool writes = true;
  std::vector<pipeline::SourceState> sources = {};
  /// How far PostgreSQL's clock is ahead of the local one; nothing: not known.
  std::optional<std::chrono::microseconds> server_clock_ahead = std::nullopt;
  /// Messages that are held because the clocks of both machines seem to be slow.
  std::uint64_t frames_held = 0;
  /// Requests to the PLC directory that failed since its last answer, and when the last one failed.
  std::uint64_t directory_failures = 0;
  TimePoint directory_failed_at{};
  /// The same of requests for the directory's export.
  std::uint64_t plc_tail_failures = 0;
  TimePoint plc_tail_failed_at{};
  /// Record operations that were read since the start, by collection.
  CountsByLabel collections = {};
  /// Messages that were dropped since the start because their account exceeded its budget.
  std::uint64_t cut_off = 0;
};

/// Shows whether a loop of the process moves. The loop beats in each round, and rests before work
/// that may take any time. Any thread.
class Heartbeat {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// A loop that does not beat for so long is stuck. Rounds take a second at most.
  static constexpr std::chrono::seconds kStuck{30};

  explicit Heartbeat(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  void beat(TimePoint now) { latest_ = now; }
  /// Until the next beat the loop is not stuck.
  void rest() { latest_ = TimePoint::max(); }
  bool is_stuck(TimePoint now) const {
    const TimePoint latest = latest_;
    return latest != TimePoint::max() && now - latest >= kStuck;
  }

 private:
  const std::string name_;
  std::atomic<TimePoint> latest_{TimePoint::max()};
};

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
