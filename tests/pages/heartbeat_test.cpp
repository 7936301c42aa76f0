#include <chrono>

#include <gtest/gtest.h>

#include "pages/process_status.hpp"

namespace skua::pages::heartbeat_test {
namespace {

using namespace std::chrono_literals;

TEST(Heartbeat, is_stuck_when_it_has_not_beaten_for_half_a_minute) {
  Heartbeat loop("main");
  Heartbeat::TimePoint now{1h};
  loop.beat(now);
  EXPECT_FALSE(loop.is_stuck(now + 29s));
  EXPECT_TRUE(loop.is_stuck(now + 30s));
  loop.beat(now + 30s);
  EXPECT_FALSE(loop.is_stuck(now + 31s));
}

TEST(Heartbeat, is_not_stuck_before_the_first_beat_and_while_it_rests) {
  Heartbeat loop("main");
  const Heartbeat::TimePoint now{1h};
  EXPECT_FALSE(loop.is_stuck(now));
  loop.beat(now);
  loop.rest();
  EXPECT_FALSE(loop.is_stuck(now + 1h));
}

}  // namespace
}  // namespace skua::pages::heartbeat_test
