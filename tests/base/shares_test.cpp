#include "base/shares.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace skua::shares_test {
namespace {

using namespace std::chrono_literals;

constexpr Timestamp kNow{std::chrono::hours(480'000)};

TEST(Shares, gives_a_burst_and_then_one_unit_each_interval) {
  Shares shares({.burst = 3, .every = 10s});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(shares.take("a", 1, kNow));
  EXPECT_FALSE(shares.take("a", 1, kNow));
  EXPECT_FALSE(shares.take("a", 1, kNow + 9s));
  EXPECT_TRUE(shares.take("a", 1, kNow + 10s));
  EXPECT_FALSE(shares.take("a", 1, kNow + 10s));
  // Unused for long: the burst, and no more.
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(shares.take("a", 1, kNow + 1h));
  EXPECT_FALSE(shares.take("a", 1, kNow + 1h));
}

TEST(Shares, it_tells_when_a_unit_is_left) {
  Shares shares({.burst = 2, .every = 10s});
  EXPECT_EQ(shares.next("a", kNow), kNow);
  EXPECT_TRUE(shares.take("a", 2, kNow));
  EXPECT_EQ(shares.next("a", kNow), kNow + 10s);
  EXPECT_EQ(shares.next("a", kNow + 3s), kNow + 10s);
  EXPECT_EQ(shares.next("a", kNow + 12s), kNow + 12s);
  EXPECT_TRUE(shares.take("a", 1, kNow + 12s));
}

TEST(Shares, keys_do_not_affect_each_other) {
  Shares shares({.burst = 1, .every = 1s});
  EXPECT_TRUE(shares.take("a", 1, kNow));
  EXPECT_FALSE(shares.take("a", 1, kNow));
  EXPECT_TRUE(shares.take("b", 1, kNow));
}

TEST(Shares, an_amount_is_used_whole_or_not_at_all) {
  Shares shares({.burst = 100, .every = 1ms});
  EXPECT_TRUE(shares.take("a", 60, kNow));
  EXPECT_FALSE(shares.take("a", 60, kNow));
  EXPECT_TRUE(shares.take("a", 40, kNow));
  // An amount that is larger than the burst needs the whole share.
  EXPECT_FALSE(shares.take("b", 1, kNow) && shares.take("b", 1'000, kNow));
  EXPECT_TRUE(shares.take("c", 1'000, kNow));
  EXPECT_FALSE(shares.take("c", 1, kNow));
}

TEST(Shares, a_charge_is_used_in_any_case) {
  Shares shares({.burst = 100, .every = 10ms});
  shares.charge("a", 30, kNow);
  EXPECT_TRUE(shares.take("a", 70, kNow));
  EXPECT_EQ(shares.next("a", kNow), kNow + 10ms);
  shares.charge("a", 20, kNow);
  EXPECT_EQ(shares.next("a", kNow), kNow + 210ms);
  // It owes one burst at most.
  for (int i = 0; i < 10; ++i) shares.charge("a", 1'000, kNow);
  EXPECT_EQ(shares.next("a", kNow), kNow + 1010ms);
}

TEST(Shares, reservations_queue_up) {
  Shares shares({.burst = 2, .every = 10s});
  EXPECT_EQ(shares.reserve("a", kNow), kNow);
  EXPECT_EQ(shares.reserve("a", kNow), kNow);
  EXPECT_EQ(shares.reserve("a", kNow), kNow + 10s);
  EXPECT_EQ(shares.reserve("a", kNow), kNow + 20s);
  EXPECT_EQ(shares.reserve("b", kNow), kNow);
  EXPECT_EQ(shares.reserve("a", kNow + 25s), kNow + 30s);
}

TEST(Shares, a_clock_that_goes_back_gives_nothing) {
  Shares shares({.burst = 1, .every = 1s});
  EXPECT_TRUE(shares.take("a", 1, kNow));
  EXPECT_FALSE(shares.take("a", 1, kNow - 1h));
}

/// The model counts: in any window, a key gets at most its burst and one unit each interval.
TEST(Shares, no_window_has_more_than_the_share) {
  std::mt19937_64 random(7);
  const Share share{.burst = 5, .every = 100ms};
  Shares shares(share);
  std::vector<Timestamp> taken;
  Timestamp now = kNow;
  for (int i = 0; i < 20'000; ++i) {
    now += std::chrono::milliseconds(random() % 60);
    if (shares.take("a", 1, now)) taken.push_back(now);
  }
  ASSERT_GT(taken.size(), 5'000U);
  for (std::size_t i = 0; i + 10 < taken.size(); ++i) {
    for (std::size_t j = 1; j <= 10; ++j) {
      const auto permitted =
          share.burst + static_cast<std::uint64_t>((taken[i + j] - taken[i]) / 100ms);
      EXPECT_LE(j + 1, permitted) << i;
    }
  }
}

TEST(Shares, the_number_of_keys_is_bounded_and_a_forgotten_key_has_its_share) {
  Shares shares({.burst = 1, .every = 1h}, 10);
  EXPECT_TRUE(shares.take("a", 1, kNow));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(shares.take(std::to_string(i), 1, kNow));
  EXPECT_TRUE(shares.take("a", 1, kNow));
}

}  // namespace
}  // namespace skua::shares_test
