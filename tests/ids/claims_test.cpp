#include <array>
#include <atomic>
#include <cstddef>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "ids/id_cache.hpp"

namespace skua::ids::claims_test {
namespace {

using IntClaims = Claims<int>;

TEST(ClaimsTest, what_one_holds_is_another_s_to_wait_for) {
  IntClaims claims;
  {
    const IntClaims::Held first(claims, std::vector{1, 2});
    const IntClaims::Held second(claims, std::vector{2, 3});
    EXPECT_EQ(first.mine(), (std::vector{1, 2}));
    EXPECT_EQ(second.mine(), std::vector{3});
    EXPECT_EQ(second.others(), std::vector{2});
  }
  const IntClaims::HeldAll all(claims, {1, 2, 3});
  const IntClaims::Held late(claims, std::vector{3, 4});
  EXPECT_EQ(late.others(), std::vector{3});
}

/// Some take what is free and wait for the rest, some wait until they have all, at random.
TEST(ClaimsTest, threads_never_hold_the_same_and_none_waits_for_ever) {
  constexpr int kKeys = 12;
  IntClaims claims;
  std::array<std::atomic<int>, kKeys> holders{};
  std::atomic<std::size_t> held{0};
  const auto hold = [&](const std::vector<int>& keys) {
    for (const int key : keys) EXPECT_EQ(holders.at(static_cast<std::size_t>(key))++, 0);
    std::this_thread::yield();
    for (const int key : keys) --holders.at(static_cast<std::size_t>(key));
    held += keys.size();
  };
  std::atomic<std::size_t> wanted{0};
  std::vector<std::jthread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int round = 0; round < 500; ++round) {
        std::vector<int> keys;
        for (int key = 0; key < kKeys; ++key) {
          if (random() % 3 == 0) keys.push_back(key);
        }
        wanted += keys.size();
        if (random() % 2 == 0) {
          const IntClaims::HeldAll all(claims, keys);
          hold(keys);
          continue;
        }
        while (!keys.empty()) {
          std::vector<int> others;
          {
            const IntClaims::Held some(claims, keys);
            hold(some.mine());
            others = some.others();
          }
          claims.wait_for(others);
          keys = std::move(others);
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(held, wanted);
  const IntClaims::Held rest(claims, std::vector{0, 5, kKeys - 1});
  EXPECT_TRUE(rest.others().empty());
}

}  // namespace
}  // namespace skua::ids::claims_test
