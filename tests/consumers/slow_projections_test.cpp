#include "consumers/own/slow_projections.hpp"

#include <array>
#include <chrono>
#include <cstdint>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "consumers/workload.hpp"
#include "support/manual_clock.hpp"

namespace skua::consumers::slow_projections_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class SlowProjectionsTest : public testing::Test {
 protected:
  test::ManualClock clock_;
  SlowProjections slow_{clock_, 1s};
};

TEST_F(SlowProjectionsTest, the_share_of_a_slow_projection_is_a_sixtieth_of_a_thread) {
  slow_.note(7, 999ms);
  EXPECT_THAT(slow_.ids(), IsEmpty());
  slow_.note(7, 1s);
  slow_.note(8, 10s);
  EXPECT_THAT(slow_.ids(), ElementsAre(7, 8));
  clock_.advance(60s);
  EXPECT_FALSE(slow_.contains(7));
  EXPECT_THAT(slow_.ids(), ElementsAre(8));
  clock_.advance(540s);
  EXPECT_THAT(slow_.ids(), IsEmpty());
}

TEST_F(SlowProjectionsTest, a_short_time_does_not_shorten_a_long_one) {
  slow_.note(7, 10s);
  slow_.note(7, 1s);
  clock_.advance(599s);
  EXPECT_TRUE(slow_.contains(7));
}

TEST_F(SlowProjectionsTest, each_projection_is_in_one_workload) {
  SlowProjections upkeep(clock_, 60s);
  const Workload built_in{.is_own = false};
  const Workload quick{.is_own = true, .slow = {&upkeep, &slow_}};
  const Workload slow{.is_own = true, .slow = {&upkeep, &slow_}, .takes_slow = true};
  slow_.note(7, 1s);
  upkeep.note(8, 60s);
  for (const std::int32_t id : {7, 8}) {
    EXPECT_TRUE(slow.takes(id, true));
    EXPECT_FALSE(quick.takes(id, true));
  }
  EXPECT_FALSE(slow.takes(9, true));
  EXPECT_TRUE(quick.takes(9, true));
  EXPECT_TRUE(built_in.takes(7, false));
  EXPECT_FALSE(built_in.takes(7, true));
  EXPECT_FALSE(slow.takes(7, false));
  EXPECT_TRUE(Workload().takes(7, true));
  EXPECT_EQ((std::array{built_in.is_quick(), quick.is_quick(), slow.is_quick()}),
            (std::array{false, true, false}));
}

}  // namespace
}  // namespace skua::consumers::slow_projections_test
