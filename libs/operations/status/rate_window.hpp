#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/metric.hpp"
#include "base/time.hpp"
#include "pipeline/metrics.hpp"
#include "status/database_size.hpp"

namespace skua::status {

/// The rates over the last minute, or since the start.
struct Rates {
  Timestamp at;
  // The following rates are per second.
  double events = 0;
  double rows = 0;
  /// The latency is the time from the arrival of a frame to its commit.
  LatencyHistogram::Counts latency{};
  /// The growth of the database on disk, in bytes per minute; nothing during about the first
  /// minute. It is negative if the server has released space.
  std::optional<double> disk_bytes;
};

/// Computes means over a minute. One thread.
class RateWindow {
 public:
  /// Adds the process's metrics (see `total`) and the size of the database, if it is known. Returns
  /// the rates until then. The first call starts the window and returns zeros.
  Rates add(const pipeline::Metrics& all, const std::optional<DatabaseSize::Sample>& disk);

 private:
  struct Sample {
    Timestamp at;
    std::uint64_t events;
    std::uint64_t rows;
    LatencyHistogram::Counts latency;
    std::optional<DatabaseSize::Sample> disk;
  };
  std::optional<double> disk_growth() const;

  std::deque<Sample> samples_;
};

}  // namespace skua::status
