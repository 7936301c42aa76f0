#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "writer/write_permits.hpp"

namespace skua::writer::live_pressure_test {
namespace {

TEST(LiveBackpressure, lets_backfill_through_while_live_queues_are_short) {
  LiveBackpressure pressure(10);
  pressure.add(9);
  pressure.wait_while_deep({});
  EXPECT_EQ(pressure.waiting(), 9U);
}

TEST(LiveBackpressure, holds_backfill_until_live_queues_are_short_again) {
  LiveBackpressure pressure(10);
  pressure.add(12);
  auto backfill = std::async(std::launch::async, [&] {
    pressure.wait_while_deep({});
    return pressure.waiting();
  });
  pressure.remove(1);
  pressure.remove(5);
  EXPECT_LT(backfill.get(), 10U);
}

TEST(LiveBackpressure, a_stop_ends_the_wait) {
  LiveBackpressure pressure(1);
  pressure.add(5);
  std::stop_source stop;
  std::jthread backfill([&] { pressure.wait_while_deep(stop.get_token()); });
  stop.request_stop();
  backfill.join();
  EXPECT_EQ(pressure.waiting(), 5U);
}

}  // namespace
}  // namespace skua::writer::live_pressure_test
