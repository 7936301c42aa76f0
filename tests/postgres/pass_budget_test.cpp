#include <cstdint>

#include <gtest/gtest.h>

#include "postgres/session_thread.hpp"

namespace skua::postgres::pass_budget_test {
namespace {

constexpr std::int64_t kMegabyte = 1 << 20;

TEST(PassBudget, a_round_reads_32_megabytes) {
  PassBudget budget;
  for (int i = 1; i < 32; ++i) EXPECT_TRUE(budget.spend(kMegabyte, 1'000 * kMegabyte)) << i;
  EXPECT_FALSE(budget.spend(kMegabyte, 1'000 * kMegabyte));
  EXPECT_TRUE(PassBudget().spend(kMegabyte, 1'000 * kMegabyte)) << "the next round";
}

TEST(PassBudget, a_pass_through_a_large_table_takes_a_day) {
  const std::int64_t table = 8'640'000 * kMegabyte;
  PassBudget budget;
  int steps = 1;
  while (budget.spend(kMegabyte, table)) ++steps;
  EXPECT_EQ(steps, 1'000) << "of 8,640 rounds of ten seconds";
}

}  // namespace
}  // namespace skua::postgres::pass_budget_test
