#include "consumers/lane_report.hpp"

#include <chrono>
#include <functional>

#include <gtest/gtest.h>

namespace skua::consumers::lane_report_test {
namespace {

using namespace std::chrono_literals;

struct ReportCase {
  const char* name;
  std::function<void(Consumer&, ConsumerLane&)> change;
  bool is_locked;
  LaneState expected;
};

class ReportLane : public testing::TestWithParam<ReportCase> {};

TEST_P(ReportLane, says_why_changes_are_left) {
  const ReportCase& given = GetParam();
  Consumer consumer;
  consumer.state = "running";
  consumer.role = "live";
  ConsumerLane lane;
  lane.lane = 3;
  lane.behind = 7;
  given.change(consumer, lane);
  const LaneReport report = report_lane(consumer, lane, given.is_locked);
  EXPECT_EQ(report.state, given.expected) << to_string(report.state);
  EXPECT_EQ(report.is_done(), given.expected == LaneState::Idle);
  EXPECT_EQ(report.lane, 3);
}

INSTANTIATE_TEST_SUITE_P(
    All, ReportLane,
    testing::Values(
        ReportCase{"ready", [](auto&, auto&) {}, false, LaneState::Ready},
        ReportCase{"idle", [](auto&, auto& lane) { lane.behind = 0; }, true, LaneState::Idle},
        ReportCase{"waits_to_replace_tables",
                   [](auto& consumer, auto& lane) {
                     consumer.role = "next";
                     lane.behind = 0;
                   },
                   false, LaneState::Ready},
        ReportCase{"locked", [](auto&, auto&) {}, true, LaneState::Leased},
        ReportCase{"leased", [](auto&, auto& lane) { lane.is_leased = true; }, false,
                   LaneState::Leased},
        ReportCase{"backoff", [](auto&, auto& lane) { lane.retry_in = 5s; }, false,
                   LaneState::Backoff},
        ReportCase{"blocked", [](auto&, auto& lane) { lane.is_blocked = true; }, false,
                   LaneState::Blocked},
        ReportCase{"stopped",
                   [](auto& consumer, auto& lane) {
                     consumer.state = "stopped";
                     lane.is_blocked = true;
                   },
                   false, LaneState::Stopped},
        ReportCase{"lagged_out", [](auto& consumer, auto&) { consumer.state = "lagged out"; },
                   false, LaneState::LaggedOut},
        ReportCase{"paused", [](auto& consumer, auto&) { consumer.paused = true; }, true,
                   LaneState::Paused},
        ReportCase{"waiting", [](auto& consumer, auto&) { consumer.waits_for_bootstrap = true; },
                   false, LaneState::Waiting}),
    [](const auto& each) { return each.param.name; });

TEST(LaneReportTest, a_consumer_without_tables_is_not_done) {
  EXPECT_FALSE(LaneReport{}.is_done());
}

}  // namespace
}  // namespace skua::consumers::lane_report_test
