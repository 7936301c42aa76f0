#include "postgres/runtime.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/manual_clock.hpp"

namespace skua::postgres::runtime_test {
namespace {

using testing::ElementsAre;

const std::string kUrl = "postgresql://127.0.0.1:1/none";

TEST(Runtime, keeps_the_first_fatal_error_and_reports_each) {
  const test::ManualClock clock;
  std::vector<std::string> reported;
  Runtime runtime(kUrl, clock, [&](const std::string& what) { reported.push_back(what); });
  EXPECT_EQ(runtime.fatal_error(), std::nullopt);
  EXPECT_EQ(runtime.reason_to_stop(), std::nullopt);
  runtime.fatal("the first");
  runtime.fatal("the second");
  EXPECT_EQ(runtime.fatal_error(), "the first");
  EXPECT_EQ(runtime.reason_to_stop(), "the first");
  EXPECT_THAT(reported, ElementsAre("the first", "the second"));
}

TEST(Runtime, without_a_report_the_error_goes_to_the_log) {
  const test::ManualClock clock;
  Runtime runtime(kUrl, clock);
  runtime.fatal("a wrong statement");
  EXPECT_EQ(runtime.fatal_error(), "a wrong statement");
}

TEST(Runtime, has_one_clock_for_both_unless_there_are_two) {
  const test::ManualClock ours;
  const test::ManualClock of_server;
  const Runtime one(kUrl, ours);
  EXPECT_EQ(&one.clocks.latest, &ours);
  EXPECT_EQ(&one.clocks.server, &ours);
  const Runtime two(kUrl, Clocks{ours, of_server});
  EXPECT_EQ(&two.clocks.latest, &ours);
  EXPECT_EQ(&two.clocks.server, &of_server);
  EXPECT_EQ(two.database_url, kUrl);
}

TEST(RuntimeDeathTest, a_part_without_an_owner_ends_the_process) {
  const test::ManualClock clock;
  EXPECT_DEATH(Runtime(kUrl, clock, end_process).fatal("a wrong statement"), "a wrong statement");
}

}  // namespace
}  // namespace skua::postgres::runtime_test
