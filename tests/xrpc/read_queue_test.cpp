#include "xrpc/read_queue.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skua::xrpc::read_queue_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr Timestamp kNow{std::chrono::hours(480'000)};

using Queue = ReadQueue<int>;

/// Takes all requests that may run, of which none finishes.
std::vector<std::string> taken(Queue& queue, Timestamp now = kNow) {
  std::vector<std::string> all;
  while (const auto item = queue.take(now)) {
    all.push_back(item->client + std::to_string(item->request));
  }
  return all;
}

TEST(ReadQueue, clients_take_turns) {
  Queue queue({.running_of_client = 100});
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(queue.push("a", i, kNow));
  EXPECT_TRUE(queue.push("b", 0, kNow));
  EXPECT_TRUE(queue.push("b", 1, kNow));
  EXPECT_TRUE(queue.push("c", 0, kNow));
  EXPECT_EQ(queue.size(), 7);
  EXPECT_THAT(taken(queue), ElementsAre("a0", "b0", "c0", "a1", "b1", "a2", "a3"));
  EXPECT_EQ(queue.size(), 0);
}

TEST(ReadQueue, a_client_leaves_a_session_to_others) {
  Queue queue({.running_of_client = 2});
  for (int i = 0; i < 5; ++i) queue.push("a", i, kNow);
  EXPECT_THAT(taken(queue), ElementsAre("a0", "a1"));
  queue.push("b", 0, kNow);
  EXPECT_THAT(taken(queue), ElementsAre("b0"));
  queue.finished("a", 1ms, kNow);
  EXPECT_THAT(taken(queue), ElementsAre("a2"));
}

TEST(ReadQueue, the_limits_of_waiting_requests) {
  Queue queue({.running_of_client = 1, .waiting_of_client = 3, .waiting = 5});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue.push("a", i, kNow));
  EXPECT_FALSE(queue.push("a", 3, kNow));
  EXPECT_TRUE(queue.push("b", 0, kNow));
  EXPECT_TRUE(queue.push("b", 1, kNow));
  EXPECT_FALSE(queue.push("b", 2, kNow));
  EXPECT_FALSE(queue.push("c", 0, kNow));
  // A request that runs does not wait.
  EXPECT_THAT(taken(queue), ElementsAre("a0", "b0"));
  EXPECT_TRUE(queue.push("a", 3, kNow));
  EXPECT_FALSE(queue.push("a", 4, kNow));
  EXPECT_TRUE(queue.push("c", 0, kNow));
}

TEST(ReadQueue, a_client_beyond_its_share_of_time_waits_for_the_others) {
  Queue queue({.running_of_client = 1, .session_time = {.burst = 1'000, .every = 5ms}});
  for (int i = 0; i < 3; ++i) queue.push("slow", i, kNow);
  queue.push("also slow", 0, kNow);
  EXPECT_THAT(taken(queue), ElementsAre("slow0", "also slow0"));
  EXPECT_EQ(queue.time_to_share("slow", kNow), 0us);
  queue.finished("slow", 10s, kNow);
  queue.finished("also slow", 999ms, kNow);
  EXPECT_EQ(queue.time_to_share("slow", kNow), 5ms);
  EXPECT_EQ(queue.time_to_share("also slow", kNow), 0us);
  // Its turn is before theirs.
  queue.push("also slow", 1, kNow);
  queue.push("new", 0, kNow);
  EXPECT_THAT(taken(queue), ElementsAre("also slow1", "new0", "slow1"));
  // The share returns.
  queue.finished("new", 10s, kNow + 6s);
  queue.push("new", 1, kNow + 6s);
  queue.finished("slow", 1ms, kNow + 6s);
  EXPECT_THAT(taken(queue, kNow + 6s), ElementsAre("slow2", "new1"));
}

TEST(ReadQueue, clients_beyond_their_shares_take_turns) {
  Queue queue({.running_of_client = 1});
  for (const char* client : {"a", "b"}) {
    queue.push(client, 0, kNow);
    queue.take(kNow);
    queue.finished(client, 60s, kNow);
    for (int i = 1; i < 3; ++i) queue.push(client, i, kNow);
  }
  EXPECT_THAT(taken(queue), ElementsAre("a1", "b1"));
  queue.finished("a", 60s, kNow);
  queue.finished("b", 60s, kNow);
  EXPECT_THAT(taken(queue), ElementsAre("a2", "b2"));
}

}  // namespace
}  // namespace skua::xrpc::read_queue_test
