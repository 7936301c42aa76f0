#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/problem.hpp"
#include "base/time.hpp"

namespace skua::pipeline {

/// What a process knows of its connection to a source, and how far the tables lag behind it. The
/// times are those of the steady clock.
struct SourceState {
  using TimePoint = std::chrono::steady_clock::time_point;

  /// `relay:host`.
  std::string source;
  /// It stands by for a relay that is read.
  bool is_standby = false;
  bool connected = false;
  /// When it was connected, or when the connection ended. Before the first connection: the start.
  TimePoint changed_at{};
  /// When the last message came, or the start.
  TimePoint heard_at{};
  /// Messages wait at the source because this process has no room for more.
  bool waits_for_room = false;
  /// A source that sends nothing for hours is normal: of a Tap, a labeler, a narrow filter.
  bool may_be_silent = false;
  /// Why the last connection ended or failed; empty: none did.
  std::string failure = {};
  /// The problem that this end shows; null: none.
  const Problem* problem = nullptr;
  /// When the source last stated that it no longer keeps the events after the cursor.
  std::optional<TimePoint> outdated_at = std::nullopt;
  /// See lag_of. Nothing: not known, or it stands by.
  std::optional<Timestamp::duration> lag = std::nullopt;
};

}  // namespace skua::pipeline
