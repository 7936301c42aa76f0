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

/// The part of the process that a metric covers.
enum class MetricScope : std::uint8_t {
  /// All sources of the process together.
  Process,
  /// One source, or several relays that stand by for each other. The active relay has the values,
  /// and the other relays have zeros.
  Pipeline,
  /// One source.
  Source,
};

struct ScopedMetric {
  MetricScope scope = MetricScope::Source;
  MetricValue metric;
};

/// The state of a running source at one time. Counts begin at the start of the process.
struct Metrics {
  /// The role of a relay, if several relays stand by for each other.
  enum class Role : std::uint8_t { Alone, Active, Standby };

  std::string source;
  Role role = Role::Alone;
  Timestamp at;
  Timestamp started_at;
  /// Whether the source is live. It is false for a capture, because the age of a capture's events
  /// is not a lag.
  bool is_live = true;
  bool connected = false;
  /// Whether signatures are checked.
  bool is_verified = false;
  /// The time by which PostgreSQL's clock is ahead of the local one, or nothing if it is not known.
  std::optional<std::chrono::microseconds> server_clock_ahead;
  /// The time from the arrival of a frame to its commit.
  LatencyHistogram::Counts latency{};
  std::optional<std::int64_t> cursor;
  /// The time at which the host made the newest frame that was read, or nothing if none was read.
  std::optional<Timestamp> newest;
  /// The time at which the host made the newest frame whose events are committed, or nothing if
  /// there is none.
  std::optional<Timestamp> committed;
  /// The number of frames that were read and are not committed completely. `oldest_waiting` is the
  /// time at which the host made the oldest of these frames, if it is known.
  std::uint64_t waiting = 0;
  std::optional<Timestamp> oldest_waiting;
  /// The metrics that the libraries count. Every source has the same metrics here. `add` and
  /// `count` write and read them.
  std::vector<ScopedMetric> counts;

  /// Adds the metrics of a library. `values` is the result of skua::values_of for its counters.
  void add(MetricScope scope, std::vector<MetricValue> values);
  /// Returns the count that has this key in JSON. Throws std::out_of_range if there is none.
  std::uint64_t count(std::string_view key) const;
  /// Returns the counts of a CountFamily by label value, without zeros. Throws std::out_of_range if
  /// there is none with this key.
  std::map<std::string, std::uint64_t> counts_by_label(std::string_view key) const;
};

/// Returns the lag: now minus the time of the newest committed event while other events wait, and
/// zero if none waits. It is at most the age of the oldest waiting event. Returns nothing if there
/// was no event.
std::optional<Timestamp::duration> lag_of(const Metrics& metrics);

/// Returns all metrics of a source, its state and its counts, without metrics that have no value
/// now.
std::vector<ScopedMetric> all_metrics(const Metrics& metrics);

/// Returns keys and values as JSON, for `skua.metrics` and `skua status`.
std::string to_json(const Metrics& metrics);

/// A metric as `skua help metrics` lists it.
struct MetricDeclaration {
  MetricInfo info;
  MetricKind kind = MetricKind::Gauge;
  /// The label that its values have besides MetricInfo::label. It is empty if there is none.
  const char* label = "";
};

/// Returns the declarations of the metrics that a source with these counts can have.
std::vector<MetricDeclaration> declarations(const Metrics& metrics);

/// Returns the metrics of a process: the sum over its sources, without names and positions.
/// `sources` is not empty.
Metrics total(const std::vector<Metrics>& sources);

}  // namespace skua::pipeline
