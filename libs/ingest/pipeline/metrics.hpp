#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/metric.hpp"
#include "base/time.hpp"

namespace skua::pipeline {

/// What a metric covers.
enum class MetricScope : std::uint8_t {
  /// All sources of the process together.
  Process,
  /// One source, or several relays that stand by for each other. The active relay has the values;
  /// the others have zeros.
  Pipeline,
  /// One source.
  Source,
};

struct ScopedMetric {
  MetricScope scope = MetricScope::Source;
  MetricValue metric;
};

/// The state of a running source at one time. Counts are since the start of the process.
struct Metrics {
  /// For relays that stand by for each other.
  enum class Role : std::uint8_t { Alone, Active, Standby };

  std::string source;
  Role role = Role::Alone;
  Timestamp at;
  Timestamp started_at;
  /// False for a capture: the age of its events is not a lag.
  bool is_live = true;
  bool connected = false;
  /// Whether signatures are checked.
  bool is_verified = false;
  /// How far PostgreSQL's clock is ahead of the local one; nothing: not known.
  std::optional<std::chrono::microseconds> server_clock_ahead;
  /// The time from the arrival of a frame to its commit.
  LatencyHistogram::Counts latency{};
  std::optional<std::int64_t> cursor;
  /// When the host made the newest frame that was read; nothing: none was.
  std::optional<Timestamp> newest;
  /// When the host made the newest frame whose events are committed; nothing: none are.
  std::optional<Timestamp> committed;
  /// Frames that were read and are not committed completely, and when the host made the oldest of
  /// them, if that is known.
  std::uint64_t waiting = 0;
  std::optional<Timestamp> oldest_waiting;
  /// What the libraries count. Every source has the same metrics here. See `add` and `count`.
  std::vector<ScopedMetric> counts;

  /// Adds the metrics of a library: skua::values_of its counters.
  void add(MetricScope scope, std::vector<MetricValue> values);
  /// The count that has this key in JSON. Throws std::out_of_range if there is none.
  std::uint64_t count(std::string_view key) const;
  /// The same for a CountFamily: the counts by label value, without zeros.
  std::map<std::string, std::uint64_t> counts_by_label(std::string_view key) const;
};

/// The lag: now minus the time of the newest committed event, while other events wait; zero when
/// none wait. At most the age of the oldest waiting event. Nothing: there was no event.
std::optional<Timestamp::duration> lag_of(const Metrics& metrics);

/// All metrics of a source: its state and its counts. Without those that have no value now.
std::vector<ScopedMetric> all_metrics(const Metrics& metrics);

/// Keys and values as JSON, for `skua.metrics` and `skua status`.
std::string to_json(const Metrics& metrics);

/// A metric as `skua help metrics` lists it.
struct MetricDeclaration {
  MetricInfo info;
  MetricKind kind = MetricKind::Gauge;
  /// The label that its values have besides MetricInfo::label; empty: there is none.
  const char* label = "";
};

/// The declarations of the metrics that a source with these counts can have.
std::vector<MetricDeclaration> declarations(const Metrics& metrics);

/// The metrics of a process: the sum over its sources, without names and positions. `sources` is
/// not empty.
Metrics total(const std::vector<Metrics>& sources);

}  // namespace skua::pipeline
