#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/metric.hpp"
#include "status/source_state.hpp"

namespace skua::pages {

/// What a process knows of itself, without a question to the database.
struct ProcessState {
  using TimePoint = std::chrono::steady_clock::time_point;

  enum class Phase : std::uint8_t { Starting, Running, Stopping };

  Phase phase = Phase::Starting;
  /// Whether the process writes to the database.
  bool writes = true;
  std::vector<status::SourceState> sources = {};
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

}  // namespace skua::pages
