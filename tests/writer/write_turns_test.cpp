#include "writer/write_turns.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace skua::writer::write_turns_test {
namespace {

using std::chrono::milliseconds;
using Turn = WriteTurns::Turn;

TEST(WriteTurns, never_lets_more_write_than_it_was_told) {
  WriteTurns turns(2);
  std::atomic<int> writing{0};
  std::atomic<int> most{0};
  std::atomic<int> written{0};
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 8; ++i) {
      workers.emplace_back([&](const std::stop_token& stop) {
        for (int round = 0; round < 200; ++round) {
          const auto turn = turns.wait(stop);
          ASSERT_TRUE(turn);
          const int now = ++writing;
          for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
          }
          std::this_thread::yield();
          --writing;
          ++written;
        }
      });
    }
    for (auto& worker : workers) worker.join();
  }
  EXPECT_EQ(written, 8 * 200);
  EXPECT_EQ(most, 2);
}

TEST(WriteTurns, come_in_the_order_of_asking) {
  WriteTurns turns(1);
  std::optional<Turn> mine = turns.wait({});
  std::vector<int> order;  // only who has the turn writes it
  std::vector<std::jthread> workers;
  for (int i = 0; i < 5; ++i) {
    workers.emplace_back([&, i] {
      const auto turn = turns.wait({});
      order.push_back(i);
    });
    while (turns.waiting() != static_cast<std::size_t>(i) + 1) std::this_thread::yield();
  }
  mine.reset();
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(WriteTurns, a_stop_ends_the_wait_and_the_turn_goes_to_the_next) {
  WriteTurns turns(1);
  std::optional<Turn> mine = turns.wait({});
  std::stop_source stop;
  auto stopped =
      std::async(std::launch::async, [&] { return turns.wait(stop.get_token()).has_value(); });
  while (turns.waiting() != 1) std::this_thread::yield();
  auto next = std::async(std::launch::async, [&] { return turns.wait({}).has_value(); });
  while (turns.waiting() != 2) std::this_thread::yield();
  stop.request_stop();
  EXPECT_FALSE(stopped.get());
  EXPECT_EQ(next.wait_for(milliseconds(0)), std::future_status::timeout);
  mine.reset();
  EXPECT_TRUE(next.get());
  EXPECT_TRUE(turns.wait({}));
}

TEST(WriteTurns, are_given_back_once_when_moved) {
  WriteTurns turns(1);
  {
    std::optional<Turn> first = turns.wait({});
    const std::optional<Turn> second(std::move(first));
  }
  std::stop_source stop;
  stop.request_stop();
  const auto one = turns.wait(stop.get_token());
  EXPECT_TRUE(one) << "given back";
  EXPECT_FALSE(turns.wait(stop.get_token())) << "but once";
}

}  // namespace
}  // namespace skua::writer::write_turns_test
