#include "ids/id_cache.hpp"

#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/account_number.hpp"

namespace skua::ids::id_cache_test {
namespace {

std::string plc(std::uint64_t n) {
  constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
  std::string did = "did:plc:";
  std::mt19937_64 random(n);
  for (int i = 0; i < 24; ++i) did += kAlphabet[random() % 32];
  return did;
}

TEST(IdCacheTest, gives_back_what_was_put_in) {
  IdCache cache(100'000);
  for (int i = 1; i <= 5'000; ++i) cache.insert(plc(static_cast<std::uint64_t>(i)), i);
  for (int i = 1; i <= 5'000; ++i) EXPECT_EQ(cache.find(plc(static_cast<std::uint64_t>(i))), i);
  EXPECT_EQ(cache.find(plc(5'001)), 0);
}

TEST(IdCacheTest, tells_similar_names_apart) {
  IdCache cache(1'000);
  const std::vector<std::string> dids = {"did:plc:aaaaaaaaaaaaaaaaaaaaaaaa",
                                         "did:plc:aaaaaaaaaaaaaaaaaaaaaaab",
                                         "did:plc:baaaaaaaaaaaaaaaaaaaaaaa",
                                         "did:plc:aaaaaaaaaaaabaaaaaaaaaaa",
                                         "did:plc:Aaaaaaaaaaaaaaaaaaaaaaaa",  // not of the alphabet
                                         "did:plc:aaaaaaaaaaaaaaaaaaaaaaa",   // too short
                                         "did:plc:aaaaaaaaaaaaaaaaaaaaaaaaa",
                                         "did:web:aaaaaaaaaaaaaaaaaaaaaaaa",
                                         "did:web:a.test",
                                         ""};
  for (std::size_t i = 0; i < dids.size(); ++i) {
    cache.insert(dids[i], static_cast<AccountNumber>(i + 1));
  }
  for (std::size_t i = 0; i < dids.size(); ++i) {
    EXPECT_EQ(cache.find(dids[i]), static_cast<AccountNumber>(i + 1)) << dids[i];
  }
}

/// A did:plc of two numbers, twelve characters of five bits each.
std::string plc_of(std::uint64_t high, std::uint64_t low) {
  constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
  std::string did = "did:plc:";
  for (const std::uint64_t half : {high, low}) {
    for (unsigned shift = 60; shift > 0; shift -= 5) did += kAlphabet[half >> (shift - 5) & 31U];
  }
  return did;
}

// Without a seed these made a map that compares each with all others: 20 s under a shard's lock.
TEST(IdCacheTest, takes_accounts_whose_names_were_chosen_to_collide) {
  constexpr int kAccounts = 80'000;
  IdCache cache(4'000'000);
  const auto did_of = [](int i) {
    const auto low = static_cast<std::uint64_t>(i);
    return plc_of(0x123456789abcdef ^ low << 3U, low);
  };
  for (int i = 1; i <= kAccounts; ++i) cache.insert(did_of(i), i);
  for (int i = 1; i <= kAccounts; ++i) ASSERT_EQ(cache.find(did_of(i)), i);
}

TEST(IdCacheTest, holds_all_until_it_forgets_one) {
  IdCache cache(16'000);
  EXPECT_FALSE(cache.holds_all());
  cache.set_holds_all(true);
  int n = 0;
  while (n < static_cast<int>(cache.room())) {
    ++n;
    cache.insert(plc(static_cast<std::uint64_t>(n)), n);
    cache.find(plc(static_cast<std::uint64_t>(n / 2)));
  }
  EXPECT_TRUE(cache.holds_all());
  for (int i = 1; i <= n; ++i) EXPECT_EQ(cache.find(plc(static_cast<std::uint64_t>(i))), i);
  while (n < 32'000) {
    ++n;
    cache.insert(plc(static_cast<std::uint64_t>(n)), n);
  }
  EXPECT_FALSE(cache.holds_all());
}

TEST(IdCacheTest, is_bounded_and_never_wrong) {
  constexpr std::size_t kCapacity = 1'600;
  IdCache cache(kCapacity);
  for (int i = 1; i <= 20'000; ++i) {
    cache.insert(plc(static_cast<std::uint64_t>(i)), i);
    cache.insert("did:web:n" + std::to_string(i) + ".test", i);
  }
  EXPECT_LE(cache.size(), kCapacity * 5 / 4 + 64);
  int known = 0;
  for (int i = 1; i <= 20'000; ++i) {
    const AccountNumber id = cache.find(plc(static_cast<std::uint64_t>(i)));
    EXPECT_TRUE(id == 0 || id == i);
    known += id != 0 ? 1 : 0;
  }
  EXPECT_GT(known, 400);
}

TEST(KnownPostsTest, tells_posts_apart) {
  KnownPosts posts(10'000);
  for (AccountNumber actor = 1; actor <= 20; ++actor) {
    for (std::int64_t rkey = -10; rkey < 10; ++rkey) {
      if ((actor + rkey) % 2 == 0) posts.insert({actor, rkey});
    }
  }
  for (AccountNumber actor = 1; actor <= 20; ++actor) {
    for (std::int64_t rkey = -10; rkey < 10; ++rkey) {
      EXPECT_EQ(posts.contains({actor, rkey}), (actor + rkey) % 2 == 0);
    }
  }
}

TEST(KnownPostsTest, seem_complete_when_look_ups_are_in_vain) {
  KnownPosts posts(10);
  int look_ups = 0;
  for (; !posts.seems_complete(); ++look_ups) posts.looked_up(false);
  EXPECT_GT(look_ups, 1);
  posts.looked_up(true);
  for (int i = 1; i < look_ups; ++i) {
    posts.looked_up(false);
    EXPECT_FALSE(posts.seems_complete());
  }
  posts.looked_up(false);
  EXPECT_TRUE(posts.seems_complete());
}

TEST(IdCacheTest, threads_may_share_it) {
  IdCache cache(2'000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < 5'000; ++i) {
        const auto n = static_cast<AccountNumber>(random() % 3'000 + 1);
        const std::string did = plc(static_cast<std::uint64_t>(n));
        if (const AccountNumber id = cache.find(did); id == 0) {
          cache.insert(did, n);
        } else {
          EXPECT_EQ(id, n);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(KnownPosts, rely_on_first_cids_only_after_a_look_that_found_no_retention) {
  KnownPosts posts(100);
  const std::chrono::steady_clock::time_point start{std::chrono::hours(1)};
  EXPECT_FALSE(posts.relies_on_first_cids());
  EXPECT_TRUE(posts.is_look_due(start));
  EXPECT_FALSE(posts.is_look_due(start));
  EXPECT_FALSE(posts.relies_on_first_cids());
  posts.looked_for_retention(false);
  EXPECT_FALSE(posts.is_look_due(start + std::chrono::seconds(59)));
  EXPECT_TRUE(posts.relies_on_first_cids());
  EXPECT_TRUE(posts.is_look_due(start + std::chrono::hours(2)));
  EXPECT_FALSE(posts.relies_on_first_cids()) << "the last look is too old";
  posts.looked_for_retention(true);
  EXPECT_FALSE(posts.relies_on_first_cids());
  posts.looked_for_retention(false);
  EXPECT_FALSE(posts.relies_on_first_cids()) << "the set may contain posts whose rows are gone";
}

}  // namespace
}  // namespace skua::ids::id_cache_test
