#include "identity/request_budget.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include "base/time.hpp"

namespace skua::identity::request_budget_test {
namespace {

using namespace std::chrono_literals;

TEST(RequestBudget, fills_with_time_up_to_its_burst) {
  RequestBudget budget(4);
  Timestamp now{std::chrono::hours(1000)};
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(budget.take(now));
  EXPECT_FALSE(budget.take(now));
  EXPECT_FALSE(budget.take(now + 249ms));
  EXPECT_TRUE(budget.take(now + 251ms));
  EXPECT_FALSE(budget.take(now));  // the clock was set back
  now += 1h;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(budget.take(now));
  EXPECT_FALSE(budget.take(now));
}

TEST(RequestBudget, a_new_rate_counts_from_its_moment_on) {
  RequestBudget budget(4);
  Timestamp now{std::chrono::hours(1000)};
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(budget.take(now));
  now += 250ms;
  budget.set_rate(1, now);
  EXPECT_TRUE(budget.take(now));  // what had come before
  EXPECT_FALSE(budget.take(now + 999ms));
  EXPECT_TRUE(budget.take(now + 1s));
  now += 1h;
  EXPECT_TRUE(budget.take(now));
  EXPECT_FALSE(budget.take(now)) << "its burst is that of the new rate";
}

}  // namespace
}  // namespace skua::identity::request_budget_test
