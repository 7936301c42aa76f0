#include <array>

#include <gtest/gtest.h>

#include "postgres/locks.hpp"

namespace skua::postgres::busy_locks_test {
namespace {

using std::chrono::seconds;

const std::array kOne = {Lock{1, "did:plc:one"}};
const std::array kTwo = {Lock{2, "did:plc:two"}};

TEST(BusyLocksTest, one_that_is_busy_for_a_minute_is_told_once_a_minute) {
  BusyLocks locks;
  const BusyLocks::Time start{};
  std::size_t told = 0;
  for (int second = 0; second < 190; ++second) {
    for (const auto& busy : locks.seen(kOne, start + seconds(second))) {
      EXPECT_EQ(busy.lock.name, "did:plc:one");
      EXPECT_EQ(busy.busy_for, seconds(second));
      ++told;
    }
  }
  EXPECT_EQ(told, 3U);
}

TEST(BusyLocksTest, one_that_is_busy_now_and_then_is_not_told) {
  BusyLocks locks;
  const BusyLocks::Time start{};
  for (int minute = 0; minute < 60; ++minute) {
    EXPECT_TRUE(locks.seen(kOne, start + minute * seconds(31)).empty());
  }
}

TEST(BusyLocksTest, each_has_its_own_time) {
  BusyLocks locks;
  const BusyLocks::Time start{};
  for (int second = 0; second < 70; second += 10) {
    const auto told = locks.seen(kOne, start + seconds(second));
    EXPECT_EQ(told.size(), second == 60 ? 1U : 0U);
    if (second >= 30) {
      EXPECT_TRUE(locks.seen(kTwo, start + seconds(second)).empty());
    }
  }
}

}  // namespace
}  // namespace skua::postgres::busy_locks_test
