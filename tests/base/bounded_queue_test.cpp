#include "base/bounded_queue.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace skua::bounded_queue_test {
namespace {

using std::chrono::milliseconds;

TEST(BoundedQueue, gives_back_in_order) {
  BoundedQueue<int> queue(3);
  EXPECT_TRUE(queue.push(1));
  EXPECT_TRUE(queue.push(2));
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), 2);
}

TEST(BoundedQueue, try_push_leaves_the_item_when_full) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  auto first = std::make_unique<int>(1);
  auto second = std::make_unique<int>(2);
  EXPECT_TRUE(queue.try_push(first));
  EXPECT_FALSE(queue.try_push(second));
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(*second, 2);
}

TEST(BoundedQueue, drains_after_close) {
  BoundedQueue<int> queue(2);
  queue.push(1);
  queue.close();
  EXPECT_TRUE(queue.closed());
  EXPECT_FALSE(queue.push(2));
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueue, pop_some_takes_what_is_there) {
  BoundedQueue<int> queue(10);
  for (int i = 0; i < 5; ++i) queue.push(i);
  std::vector<int> taken = {-1};
  EXPECT_EQ(queue.pop_some(taken, 3, milliseconds(0)), 3U);
  EXPECT_EQ(taken, (std::vector<int>{-1, 0, 1, 2}));
  EXPECT_EQ(queue.pop_some(taken, 100, milliseconds(0)), 2U);
  EXPECT_EQ(queue.pop_some(taken, 100, milliseconds(0)), 0U);
}

TEST(BoundedQueue, close_wakes_those_who_wait) {
  BoundedQueue<int> full(1);
  full.push(1);
  BoundedQueue<int> empty(1);
  std::jthread producer([&] { EXPECT_FALSE(full.push(2)); });
  std::jthread consumer([&] { EXPECT_EQ(empty.pop(), std::nullopt); });
  full.close();
  empty.close();
}

TEST(BoundedQueue, waits_for_many_but_not_forever) {
  BoundedQueue<int> queue(10);
  queue.push(1);
  queue.wait_for_many(1, std::chrono::hours(1));
  queue.wait_for_many(2, milliseconds(1));
  EXPECT_EQ(queue.size(), 1U);
  int last = 4;
  std::jthread producer([&] {
    queue.push(2);
    queue.push(3);
    EXPECT_TRUE(queue.try_push(last));
  });
  queue.wait_for_many(4, std::chrono::hours(1));
  EXPECT_EQ(queue.size(), 4U);
  std::jthread closer([&] { queue.close(); });
  queue.wait_for_many(11, std::chrono::hours(1));
  EXPECT_TRUE(queue.closed());
}

TEST(BoundedQueue, counts_items_by_their_weight) {
  struct Length {
    std::size_t operator()(const std::string& text) const { return text.size(); }
  };
  BoundedQueue<std::string, Length> queue(10);
  for (const char* text : {"one", "two", "three"}) queue.push(text);
  EXPECT_EQ(queue.weight(), 11U);
  queue.wait_for_many(11, std::chrono::hours(1));
  std::vector<std::string> taken;
  EXPECT_EQ(queue.pop_some(taken, 4, milliseconds(0)), 6U);
  EXPECT_EQ(taken, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(queue.pop(), "three");
  EXPECT_EQ(queue.weight(), 0U);
}

TEST(BoundedQueue, loses_and_doubles_nothing_between_threads) {
  constexpr int kProducers = 3;
  constexpr int kConsumers = 3;
  constexpr int kEach = 2000;
  BoundedQueue<int> queue(7);
  std::vector<std::vector<int>> taken(kConsumers);
  {
    std::vector<std::jthread> consumers;
    consumers.reserve(kConsumers);
    for (auto& mine : taken) {
      consumers.emplace_back([&queue, &mine] {
        while (const auto item = queue.pop()) mine.push_back(*item);
      });
    }
    {
      std::vector<std::jthread> producers;
      producers.reserve(kProducers);
      for (int p = 0; p < kProducers; ++p) {
        producers.emplace_back([&queue, p] {
          for (int i = 0; i < kEach; ++i) queue.push(p * kEach + i);
        });
      }
    }
    queue.close();
  }
  std::vector<int> all;
  for (const auto& mine : taken) all.insert(all.end(), mine.begin(), mine.end());
  std::sort(all.begin(), all.end());
  std::vector<int> expected(kProducers * kEach);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all, expected);
}

}  // namespace
}  // namespace skua::bounded_queue_test
