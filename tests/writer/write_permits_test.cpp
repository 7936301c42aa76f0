#include "writer/write_permits.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace skua::writer::write_permits_test {
namespace {

using std::chrono::milliseconds;
using Permit = WritePermits::Permit;

TEST(WritePermits, never_lets_more_write_than_it_was_told) {
  WritePermits permits(2);
  {
    std::optional<Permit> first = permits.wait({});
    const std::optional<Permit> second = permits.wait({});
    auto third = std::async(std::launch::async, [&] { return permits.wait({}).has_value(); });
    while (permits.waiting() != 1) std::this_thread::yield();
    EXPECT_TRUE(first.has_value() && second.has_value());
    EXPECT_EQ(third.wait_for(milliseconds(0)), std::future_status::timeout);
    first.reset();
    EXPECT_TRUE(third.get());
  }
  std::atomic<int> writing{0};
  std::atomic<int> most{0};
  std::atomic<int> written{0};
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 8; ++i) {
      workers.emplace_back([&](const std::stop_token& stop) {
        for (int round = 0; round < 200; ++round) {
          const auto permit = permits.wait(stop);
          ASSERT_TRUE(permit);
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
  // On a busy machine the threads can run one after the other.
  EXPECT_LE(most, 2);
}

TEST(WritePermits, come_in_the_order_of_asking) {
  WritePermits permits(1);
  std::optional<Permit> mine = permits.wait({});
  std::vector<int> order;  // only who has the permit writes it
  std::vector<std::jthread> workers;
  for (int i = 0; i < 5; ++i) {
    workers.emplace_back([&, i] {
      const auto permit = permits.wait({});
      order.push_back(i);
    });
    while (permits.waiting() != static_cast<std::size_t>(i) + 1) std::this_thread::yield();
  }
  mine.reset();
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(WritePermits, a_stop_ends_the_wait_and_the_turn_goes_to_the_next) {
  WritePermits permits(1);
  std::optional<Permit> mine = permits.wait({});
  std::stop_source stop;
  auto stopped =
      std::async(std::launch::async, [&] { return permits.wait(stop.get_token()).has_value(); });
  while (permits.waiting() != 1) std::this_thread::yield();
  auto next = std::async(std::launch::async, [&] { return permits.wait({}).has_value(); });
  while (permits.waiting() != 2) std::this_thread::yield();
  stop.request_stop();
  EXPECT_FALSE(stopped.get());
  EXPECT_EQ(next.wait_for(milliseconds(0)), std::future_status::timeout);
  mine.reset();
  EXPECT_TRUE(next.get());
  EXPECT_TRUE(permits.wait({}));
}

TEST(WritePermits, are_given_back_once_when_moved) {
  WritePermits permits(1);
  {
    std::optional<Permit> first = permits.wait({});
    const std::optional<Permit> second(std::move(first));
  }
  std::stop_source stop;
  stop.request_stop();
  const auto one = permits.wait(stop.get_token());
  EXPECT_TRUE(one) << "given back";
  EXPECT_FALSE(permits.wait(stop.get_token())) << "but once";
}

}  // namespace
}  // namespace skua::writer::write_permits_test
