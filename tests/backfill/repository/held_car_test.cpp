#include "backfill/repository/held_car.hpp"

#include <optional>

#include <gtest/gtest.h>

namespace skua::backfill::held_car_test {
namespace {

class HeldCarTest : public testing::Test {
 protected:
  static constexpr std::size_t kSpoolAbove = 100;

  Count memory_;
  SpoolBudget disk_{1'000};
};

TEST_F(HeldCarTest, counts_what_comes_and_gives_it_back) {
  {
    HeldCar small(memory_, disk_, "a.test", kSpoolAbove);
    EXPECT_TRUE(small.add(60));
    EXPECT_TRUE(small.add(40));
    EXPECT_EQ(memory_, 100U);
    EXPECT_EQ(disk_.taken(), 0U);
    HeldCar large(memory_, disk_, "b.test", kSpoolAbove);
    EXPECT_TRUE(large.add(100));
    EXPECT_EQ(memory_, 200U);
    EXPECT_TRUE(large.add(50));
    EXPECT_EQ(memory_, 100U) << "it has gone to the disk";
    EXPECT_EQ(disk_.taken(), 150U);
    large.keep(nullptr, 150);
    EXPECT_EQ(memory_, 250U) << "whoever reads it has it in memory";
    EXPECT_EQ(disk_.taken(), 150U);
  }
  EXPECT_EQ(memory_, 0U);
  EXPECT_EQ(disk_.taken(), 0U);
}

TEST_F(HeldCarTest, one_site_has_a_half_of_the_disk_at_most) {
  HeldCar one(memory_, disk_, "a.test", kSpoolAbove);
  HeldCar two(memory_, disk_, "a.test", kSpoolAbove);
  std::optional<HeldCar> other(std::in_place, memory_, disk_, "b.test", kSpoolAbove);
  EXPECT_TRUE(one.add(300));
  EXPECT_FALSE(two.add(201));
  EXPECT_TRUE(two.add(200));
  EXPECT_TRUE(other->add(500));
  HeldCar third(memory_, disk_, "c.test", kSpoolAbove);
  EXPECT_FALSE(third.add(101)) << "nothing is left";
  EXPECT_TRUE(third.add(100)) << "what is small needs no disk";
  other.reset();
  EXPECT_TRUE(third.add(1));
}

}  // namespace
}  // namespace skua::backfill::held_car_test
