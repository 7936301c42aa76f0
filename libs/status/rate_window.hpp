#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/latency_histogram.hpp"
#include "base/time.hpp"
#include "status/database_size.hpp"
#include "status/metrics.hpp"

namespace skua::status {

/// What a process did in the last minute, or since it began.
struct Rates {
  Timestamp at;
  // A second.
  double events = 0;
  double rows = 0;
  /// From reading a frame to its commit.
  LatencyHistogram::Counts latency{};
  /// Growth of the database on disk, in bytes a minute; nothing before it was watched for about a
  /// minute. Negative when the server has given space back.
  std::optional<double> disk_bytes;
  /// Of all account numbers, 0 to 1; nothing while the database does not answer.
  std::optional<double> actor_numbers_used;
};

/// Works out means over a minute. One thread.
class RateWindow {
 public:
  /// Takes the process's metrics (see `total`) and the size of the database, if it is known; gives
  /// the rates until then. The first call gives none: it begins the window.
  Rates add(const Metrics& all, const std::optional<DatabaseSize::Sample>& disk);

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
