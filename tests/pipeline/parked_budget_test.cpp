#include "pipeline/parked_budget.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skua::pipeline::parked_budget_test {
namespace {

using Limits = ParkedBudget::Limits;

const std::string kAlice = "did:web:alice.example";
const std::string kBob = "did:web:bob.example";
const std::string kCarol = "did:web:carol.example";
const std::optional<std::string> kNobody;

TEST(ParkedBudget, an_account_within_its_limits_may_wait) {
  ParkedBudget budget({.account_bytes = 100, .all_bytes = 1'000, .frames = 50});
  EXPECT_TRUE(budget.empty());
  EXPECT_EQ(budget.beyond(1'000'000), kNobody);
  budget.set(kAlice, 100, 7);
  EXPECT_FALSE(budget.empty());
  EXPECT_EQ(budget.beyond(57), kNobody);
}

TEST(ParkedBudget, an_account_with_too_many_bytes_may_not) {
  ParkedBudget budget({.account_bytes = 100, .all_bytes = 1'000, .frames = 50});
  budget.set(kAlice, 100, 1);
  budget.set(kBob, 101, 2);
  budget.set(kCarol, 99, 3);
  EXPECT_EQ(budget.beyond(4), kBob);
  budget.erase(kBob);
  budget.erase(kBob);
  EXPECT_EQ(budget.beyond(4), kNobody);
  EXPECT_EQ(budget.bytes(), 199U);
}

TEST(ParkedBudget, of_all_the_one_with_the_most_bytes_goes_first) {
  ParkedBudget budget({.account_bytes = 100, .all_bytes = 200, .frames = 50});
  budget.set(kAlice, 90, 1);
  budget.set(kBob, 95, 2);
  budget.set(kCarol, 15, 3);
  EXPECT_EQ(budget.beyond(4), kNobody);
  budget.set(kCarol, 16, 3);
  EXPECT_EQ(budget.beyond(4), kBob);
  budget.erase(kBob);
  EXPECT_EQ(budget.beyond(4), kNobody);
}

TEST(ParkedBudget, a_frame_that_stands_too_far_behind_may_not_wait_whatever_its_size) {
  ParkedBudget budget({.account_bytes = 100, .all_bytes = 200, .frames = 50});
  budget.set(kAlice, 1, 20);
  budget.set(kBob, 90, 10);
  EXPECT_EQ(budget.beyond(60), kNobody);
  EXPECT_EQ(budget.beyond(61), kBob);
  budget.set(kBob, 80, 30);  // its first frame was done with
  EXPECT_EQ(budget.beyond(61), kNobody);
  EXPECT_EQ(budget.beyond(71), kAlice);
}

TEST(ParkedBudget, decoders_share_a_quarter_of_the_bytes_and_half_of_the_frames) {
  const pipeline::InFlightList::Limits in_flight{.frames = 100'000, .bytes = std::size_t{64} << 20};
  EXPECT_EQ(Limits::of(in_flight, 1).all_bytes, std::size_t{16} << 20);
  EXPECT_EQ(Limits::of(in_flight, 2).all_bytes, std::size_t{8} << 20);
  EXPECT_EQ(Limits::of(in_flight, 2).account_bytes, std::size_t{2} << 20);
  EXPECT_EQ(Limits::of(in_flight, 2).frames, 50'000U);
  EXPECT_EQ(Limits::of(in_flight, 100).all_bytes, std::size_t{2} << 20) << "an account's at least";
}

/// After any steps, the parked frames are within the limits, and no account is refused without
/// need.
TEST(ParkedBudget, agrees_with_a_simple_model) {
  const Limits limits{.account_bytes = 60, .all_bytes = 150, .frames = 30};
  struct Share {
    std::size_t bytes = 0;
    ParkedBudget::Ticket oldest = 0;
  };
  std::mt19937 random(11);
  ParkedBudget budget(limits);
  std::map<std::string, Share> model;
  std::size_t gone = 0;
  for (ParkedBudget::Ticket next = 1; next < 5'000; ++next) {
    const std::string did = "did:web:" + std::to_string(random() % 12) + ".example";
    if (random() % 5 == 0) {
      budget.erase(did);
      model.erase(did);
    } else {
      Share& share = model.try_emplace(did, Share{0, next - 1}).first->second;
      share.bytes += 1 + random() % 20;
      budget.set(did, share.bytes, share.oldest);
    }
    while (const auto beyond = budget.beyond(next)) {
      const auto [bytes, oldest] = model.at(*beyond);
      std::size_t all = 0;
      std::size_t most = 0;
      for (const auto& [name, share] : model) {
        all += share.bytes;
        most = std::max(most, share.bytes);
      }
      const bool is_late = next - oldest > limits.frames;
      ASSERT_TRUE(is_late ||
                  (bytes == most && (most > limits.account_bytes || all > limits.all_bytes)));
      budget.erase(*beyond);
      model.erase(*beyond);
      ++gone;
    }
    std::size_t all = 0;
    for (const auto& [name, share] : model) {
      all += share.bytes;
      ASSERT_LE(share.bytes, limits.account_bytes);
      ASSERT_LE(next - share.oldest, limits.frames);
    }
    ASSERT_LE(all, limits.all_bytes);
    ASSERT_EQ(budget.bytes(), all);
  }
  EXPECT_GT(gone, 100U);
}

}  // namespace
}  // namespace skua::pipeline::parked_budget_test
