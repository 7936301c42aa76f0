#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/log.hpp"

namespace skua::log_throttle_test {
namespace {

using namespace std::chrono_literals;

constexpr int kWarn = 3;

/// A throttle and a time that the test moves.
class LogThrottleTest : public testing::Test {
 protected:
  bool say(const std::string& message, const std::string& format = "did={}: {}",
           const std::string& logger = "intake", int level = kWarn) {
    return throttle_.admit({logger, level, format}, message, now_);
  }
  /// How many of so many different messages are written.
  std::size_t written_of(int messages) {
    std::size_t written = 0;
    for (int i = 0; i < messages; ++i) written += say("did=" + std::to_string(i) + ": bad") ? 1 : 0;
    return written;
  }

  LogThrottle throttle_;
  LogThrottle::Time now_{1h};
};

TEST_F(LogThrottleTest, writes_identical_messages_once_and_counts_them_after_a_minute) {
  EXPECT_TRUE(say("down"));
  for (int i = 0; i < 999; ++i) EXPECT_FALSE(say("down"));
  now_ += 59s;
  EXPECT_TRUE(throttle_.due(now_).empty());
  now_ += 1s;
  const std::vector<LogThrottle::Summary> expected{
      {"intake", kWarn, "down (999 more like this in 60 s)"}};
  EXPECT_EQ(throttle_.due(now_), expected);
  EXPECT_TRUE(throttle_.due(now_).empty());
}

TEST_F(LogThrottleTest, bounds_messages_that_differ_only_by_what_they_are_about) {
  EXPECT_EQ(written_of(100'000), LogThrottle::kLines);
  now_ += 60s;
  const auto due = throttle_.due(now_);
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].text, "did=99999: bad (99990 more like this in 60 s)");
}

TEST_F(LogThrottleTest, writes_only_the_count_while_they_keep_coming) {
  written_of(1'000);
  for (int minute = 0; minute < 5; ++minute) {
    now_ += 60s;
    EXPECT_EQ(throttle_.due(now_).size(), 1U);
    EXPECT_EQ(written_of(1'000), 0U);
  }
}

TEST_F(LogThrottleTest, begins_anew_after_a_minute_without_one_too_many) {
  written_of(1'000);
  now_ += 60s;
  EXPECT_EQ(throttle_.due(now_).size(), 1U);
  now_ += 60s;
  EXPECT_TRUE(throttle_.due(now_).empty());
  EXPECT_EQ(written_of(1'000), LogThrottle::kLines);
}

TEST_F(LogThrottleTest, leaves_rare_messages_alone) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(say("down")) << i;
    now_ += 60s;
    EXPECT_TRUE(throttle_.due(now_).empty());
  }
}

TEST_F(LogThrottleTest, keeps_loggers_levels_and_formats_apart) {
  EXPECT_TRUE(say("down"));
  EXPECT_TRUE(say("down", "{}"));
  EXPECT_TRUE(say("down", "did={}: {}", "verify"));
  EXPECT_TRUE(say("down", "did={}: {}", "intake", kWarn + 1));
  EXPECT_FALSE(say("down"));
}

TEST_F(LogThrottleTest, gives_the_rest_at_the_end) {
  say("one");
  say("one");
  say("two", "{}");
  now_ += 2s;
  const std::vector<LogThrottle::Summary> expected{
      {"intake", kWarn, "one (1 more like this in 2 s)"}};
  EXPECT_EQ(throttle_.rest(now_), expected);
  EXPECT_TRUE(throttle_.rest(now_).empty());
}

}  // namespace
}  // namespace skua::log_throttle_test
