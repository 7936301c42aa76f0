#include "transport/reconnect_policy.hpp"

#include <chrono>
#include <random>

#include <gtest/gtest.h>

namespace skua::transport::reconnect_policy_test {
namespace {

using namespace std::chrono_literals;
using TimePoint = ReconnectPolicy::TimePoint;

const ReconnectPolicy::Options kOptions{1s, 60s, 30s};
const TimePoint kStart{1h};

/// The longest delay that could have been drawn.
ReconnectPolicy longest_policy() {
  return {kOptions, [] { return 1.0; }};
}

TEST(ReconnectPolicy, doubles_from_one_second_to_one_minute) {
  auto policy = longest_policy();
  for (const auto delay : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s, 60s}) {
    EXPECT_EQ(policy.failed(), delay);
  }
}

TEST(ReconnectPolicy, stays_at_its_longest_for_ever) {
  auto policy = longest_policy();
  for (int i = 0; i < 10000; ++i) EXPECT_LE(policy.failed(), 60s);
}

TEST(ReconnectPolicy, spreads_delays_over_the_whole_range) {
  std::mt19937 engine(7);
  ReconnectPolicy policy(kOptions,
                         [&] { return std::uniform_real_distribution<double>(0.0, 1.0)(engine); });
  for (int i = 0; i < 20; ++i) static_cast<void>(policy.failed());
  int low = 0;
  int high = 0;
  constexpr int kDraws = 2000;
  for (int i = 0; i < kDraws; ++i) {
    const auto delay = policy.failed();
    EXPECT_GE(delay, 0s);
    EXPECT_LE(delay, 60s);
    low += delay < 15s ? 1 : 0;
    high += delay > 45s ? 1 : 0;
  }
  EXPECT_NEAR(low, kDraws / 4, kDraws / 20);
  EXPECT_NEAR(high, kDraws / 4, kDraws / 20);
}

TEST(ReconnectPolicy, begins_anew_after_a_healthy_connection) {
  auto policy = longest_policy();
  for (int i = 0; i < 4; ++i) static_cast<void>(policy.failed());
  policy.connected(kStart);
  policy.received(kStart + 30s);
  EXPECT_EQ(policy.failed(), 1s);
  EXPECT_EQ(policy.failed(), 2s);
}

TEST(ReconnectPolicy, goes_on_after_a_short_connection) {
  auto policy = longest_policy();
  static_cast<void>(policy.failed());
  policy.connected(kStart);
  policy.received(kStart + 29s);
  EXPECT_EQ(policy.failed(), 2s);
}

TEST(ReconnectPolicy, goes_on_after_a_silent_connection) {
  auto policy = longest_policy();
  static_cast<void>(policy.failed());
  policy.connected(kStart);  // and an hour without a message
  EXPECT_EQ(policy.failed(), 2s);
}

TEST(ReconnectPolicy, counts_a_healthy_connection_once) {
  auto policy = longest_policy();
  policy.connected(kStart);
  policy.received(kStart + 1h);
  for (const auto delay : {1s, 2s, 4s}) EXPECT_EQ(policy.failed(), delay);
}

TEST(ReconnectPolicy, has_no_delay_when_told_so) {
  ReconnectPolicy policy({0s, 0s, 30s}, [] { return 1.0; });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(policy.failed(), 0s);
}

}  // namespace
}  // namespace skua::transport::reconnect_policy_test
