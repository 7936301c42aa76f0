#include "consumers/lane_report.hpp"

#include <array>
#include <cstddef>
#include <set>
#include <utility>

#include "consumers/lane_report.sql.hpp"

namespace skua::consumers {

namespace {

/// The names have the order of LaneState.
constexpr std::array<std::string_view, 10> kStates{"idle",    "ready",   "paused",  "backoff",
                                                   "leased",  "stopped", "blocked", "lagged out",
                                                   "unbuilt", "waiting"};

/// A row of report_free_lanes.
struct FreeLane {
  std::int32_t consumer_id;
  std::int16_t lane;
};

std::set<std::pair<std::int32_t, std::int16_t>> read_free_lanes(postgres::Session& session) {
  std::set<std::pair<std::int32_t, std::int16_t>> lanes;
  // The end of the transaction releases the lanes.
  const postgres::Transaction transaction(session);
  for (const auto& [consumer_id, lane] : session.query<FreeLane>(sql::report_free_lanes)) {
    lanes.emplace(consumer_id, lane);
  }
  return lanes;
}

LaneState state_of(const Consumer& consumer, const ConsumerLane& lane, bool is_locked) {
  if (consumer.state == "stopped") return LaneState::Stopped;
  if (consumer.state == "lagged out") return LaneState::LaggedOut;
  if (consumer.paused) return LaneState::Paused;
  if (lane.is_blocked) return LaneState::Blocked;
  if (lane.behind == 0) return consumer.role == "live" ? LaneState::Idle : LaneState::Ready;
  if (consumer.waits_for_bootstrap) return LaneState::Waiting;
  if (is_locked || lane.is_leased) return LaneState::Leased;
  return lane.retry_in ? LaneState::Backoff : LaneState::Ready;
}

LaneReport report_of(const Consumer& consumer) {
  return {.consumer_id = consumer.id,
          .consumer = consumer.name,
          .kind = consumer.kind,
          .is_live = consumer.role == "live",
          .lane = std::nullopt,
          .state = LaneState::Unbuilt,
          .left = 0,
          .retry_in = std::nullopt,
          .error = consumer.error};
}

}  // namespace

std::string_view to_string(LaneState state) {
  return kStates.at(static_cast<std::size_t>(state));
}

LaneReport report_lane(const Consumer& consumer, const ConsumerLane& lane, bool is_locked) {
  LaneReport report = report_of(consumer);
  report.lane = lane.lane;
  report.state = state_of(consumer, lane, is_locked);
  report.left = lane.behind;
  report.retry_in = lane.retry_in;
  if (!lane.error.empty()) report.error = lane.error;
  return report;
}

std::vector<LaneReport> report_lanes(postgres::Session& session, const std::string& only) {
  std::vector<LaneReport> reports;
  const auto free = read_free_lanes(session);
  for (const Consumer& consumer : read_consumers(session)) {
    const bool is_reported = only.empty() ? consumer.kind == "projection" : consumer.name == only;
    if (!is_reported) continue;
    if (consumer.lanes.empty()) reports.push_back(report_of(consumer));
    for (const ConsumerLane& lane : consumer.lanes) {
      reports.push_back(report_lane(consumer, lane, !free.contains({consumer.id, lane.lane})));
    }
  }
  return reports;
}

}  // namespace skua::consumers
