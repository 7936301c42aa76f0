#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "consumers/consumer_table.hpp"
#include "postgres/session.hpp"

namespace skua::consumers {

/// What a lane does, or why it does nothing.
enum class LaneState : std::uint8_t {
  /// No changes are left.
  Idle,
  /// Changes are left, or tables wait to replace the present ones, and nothing prevents the work.
  Ready,
  Paused,
  /// It waits for the next attempt after a failure.
  Backoff,
  /// Another session works on it, or a lease has not ended.
  Leased,
  /// A failed change stopped the consumer.
  Stopped,
  /// A failed change blocks the lane.
  Blocked,
  /// The log dropped changes that it had not read.
  LaggedOut,
  /// The tables of the consumer are not built.
  Unbuilt,
  /// A bootstrap is open.
  Waiting,
};

/// Returns the text of a state, such as "lagged out".
std::string_view to_string(LaneState state);

/// The state of a lane; of a consumer without lanes if `lane` is nothing.
struct LaneReport {
  std::int32_t consumer_id = 0;
  std::string consumer;
  std::string kind;
  /// False for a consumer that is being built or rebuilt.
  bool is_live = true;
  std::optional<std::int16_t> lane;
  LaneState state = LaneState::Idle;
  /// The number of changes that are left.
  std::int64_t left = 0;
  /// The time until the next attempt after a failure.
  std::optional<std::chrono::milliseconds> retry_in;
  /// The last failure; empty if the last batch succeeded.
  std::string error;

  bool is_done() const { return is_live && lane && left == 0; }
};

/// Reports the state of a lane. `is_locked` says that another session works on it. Pure.
LaneReport report_lane(const Consumer& consumer, const ConsumerLane& lane, bool is_locked);

/// Reports the lanes of the consumer with this name, or with an empty name of all projections.
/// Throws postgres::SqlError.
std::vector<LaneReport> report_lanes(postgres::Session& session, const std::string& only);

}  // namespace skua::consumers
