#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/problem.hpp"
#include "base/time.hpp"

namespace skua::pipeline {

/// The state of a process's connection to a source, and the lag of the tables behind the source.
/// The times are times of the steady clock.
struct SourceState {
  using TimePoint = std::chrono::steady_clock::time_point;

  /// The name of the source, such as `relay:host`.
  std::string source;
  /// Whether the source stands by for a relay that is read.
  bool is_standby = false;
  bool connected = false;
  /// The time at which the source was connected, or the connection ended. Before the first
  /// connection, it is the time of the start.
  TimePoint changed_at{};
  /// The time at which the last message came, or the time of the start.
  TimePoint heard_at{};
  /// Whether messages wait at the source because this process has no room for more.
  bool waits_for_room = false;
  /// Whether it is normal that the source sends nothing for hours, as a Tap, a labeler or a source
  /// with a narrow filter does.
  bool may_be_silent = false;
  /// The reason why the last connection ended or failed. It is empty if none did.
  std::string failure = {};
  /// The problem that caused this end, or null if there is none.
  const Problem* problem = nullptr;
  /// The time at which the source last stated that it no longer keeps the events after the cursor.
  std::optional<TimePoint> outdated_at = std::nullopt;
  /// The lag (see lag_of). It is nothing if it is not known, or the source stands by.
  std::optional<Timestamp::duration> lag = std::nullopt;
};

}  // namespace skua::pipeline
