#include "base/fair_queue.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace skua::fair_queue_test {
namespace {

using namespace std::chrono_literals;

struct Item {
  std::uint64_t key = 0;
  int number = 0;
  std::size_t cost = 1;
};

struct ItemTraits {
  static std::uint64_t key(const Item& item) { return item.key; }
  static std::size_t weight(const Item&) { return 1; }
  static std::size_t cost(const Item& item) { return item.cost; }
};

using Queue = FairQueue<Item, ItemTraits>;

std::string take(Queue& queue, std::size_t weight, std::size_t cost = 1'000'000,
                 const Queue::Skipped& skipped = {}) {
  std::vector<Item> items;
  queue.pop_some(items, {weight, cost}, skipped, 0ms);
  std::string text;
  for (const Item& item : items) {
    if (!text.empty()) text += ' ';
    text += static_cast<char>('a' + item.key);
    text += std::to_string(item.number);
  }
  return text;
}

TEST(FairQueue, keys_take_turns_and_keep_their_order) {
  Queue queue;
  for (int i = 0; i < 5; ++i) queue.push({0, i});
  queue.push({1, 0});
  queue.push({2, 0});
  queue.push({1, 1});
  EXPECT_EQ(queue.size(), 8U);
  EXPECT_EQ(take(queue, 4), "a0 b0 c0 a1");
  queue.push({3, 0});
  EXPECT_EQ(take(queue, 9), "b1 a2 d0 a3 a4");
  EXPECT_EQ(take(queue, 9), "");
  EXPECT_EQ(queue.weight(), 0U);
}

TEST(FairQueue, a_key_that_comes_waits_for_one_item_of_each_other_key_at_most) {
  Queue queue;
  for (std::uint64_t key = 0; key < 3; ++key) {
    for (int i = 0; i < 1'000; ++i) queue.push({key, i});
  }
  EXPECT_EQ(take(queue, 4), "a0 b0 c0 a1");
  queue.push({4, 0});
  EXPECT_EQ(take(queue, 4), "b1 c1 a2 e0");
}

TEST(FairQueue, keys_with_one_item_each_are_first_in_first_out) {
  Queue queue;
  for (std::uint64_t key = 0; key < 6; ++key) queue.push({key, 0});
  EXPECT_EQ(take(queue, 2), "a0 b0");
  queue.push({6, 0});
  EXPECT_EQ(take(queue, 9), "c0 d0 e0 f0 g0");
}

TEST(FairQueue, the_cost_ends_a_batch_after_its_first_item) {
  Queue queue;
  queue.push({0, 0, 500});
  queue.push({0, 1, 500});
  queue.push({1, 0, 10});
  queue.push({2, 0, 10});
  EXPECT_EQ(take(queue, 9, 100), "a0");
  EXPECT_EQ(take(queue, 9, 100), "b0 c0 a1");
}

TEST(FairQueue, keys_can_be_passed_over) {
  Queue queue;
  for (int i = 0; i < 3; ++i) queue.push({0, i});
  queue.push({1, 0});
  EXPECT_EQ(take(queue, 9, 1'000, {{0, true}}), "b0");
  EXPECT_EQ(take(queue, 9, 1'000, {{0, true}}), "");
  EXPECT_EQ(queue.size(), 3U);
  EXPECT_EQ(take(queue, 9), "a0 a1 a2");
}

TEST(FairQueue, after_the_end_the_rest_is_given) {
  Queue queue;
  queue.push({0, 0});
  queue.close();
  queue.push({1, 0});
  EXPECT_TRUE(queue.closed());
  EXPECT_EQ(take(queue, 9), "a0");
  std::vector<Item> items;
  EXPECT_EQ(queue.pop_some(items, {9}, {}, 10s).weight, 0U) << "it does not wait";
}

TEST(FairQueue, a_consumer_waits_for_an_item_and_for_many) {
  Queue queue;
  std::jthread producer([&] {
    for (int i = 0; i < 100; ++i) queue.push({static_cast<std::uint64_t>(i % 7), i});
  });
  std::vector<Item> items;
  while (items.empty()) queue.pop_some(items, {1}, {}, 10s);
  queue.wait_for_many(99, 10s);
  queue.pop_some(items, {100}, {}, 10s);
  EXPECT_EQ(items.size(), 100U);
}

/// Against a model: whatever the order of calls, each key gets its items in order, nothing is lost,
/// and a key that has items gets a turn before any other key has two.
TEST(FairQueue, holds_its_promises_in_random_order) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    Queue queue;
    std::map<std::uint64_t, int> pushed;
    std::map<std::uint64_t, int> taken;
    std::map<std::uint64_t, std::map<std::uint64_t, int>> since_turn;
    for (int step = 0; step < 5'000; ++step) {
      if (random() % 3 != 0) {
        const std::uint64_t key = random() % 4 == 0 ? random() % 50 : 0;
        if (pushed[key] == taken[key]) since_turn[key].clear();
        queue.push({key, pushed[key]++});
        continue;
      }
      std::vector<Item> items;
      queue.pop_some(items, {1 + random() % 8, 1'000}, {}, 0ms);
      for (const Item& item : items) {
        ASSERT_EQ(item.number, taken[item.key]++);
        since_turn[item.key].clear();
        for (const auto& [key, count] : pushed) {
          if (key == item.key || count == taken[key]) continue;
          ASSERT_LE(++since_turn[key][item.key], 2) << "seed " << seed;
        }
      }
    }
    std::vector<Item> rest;
    while (queue.size() > 0) queue.pop_some(rest, {100}, {}, 0ms);
    for (const Item& item : rest) ASSERT_EQ(item.number, taken[item.key]++);
    EXPECT_EQ(pushed, taken);
  }
}

}  // namespace
}  // namespace skua::fair_queue_test
