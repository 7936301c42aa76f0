#include "world/message_log.hpp"

#include <memory>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "skua-sim/heard_network.hpp"

namespace skua::sim::message_log_test {
namespace {

std::shared_ptr<const Message> account_said() {
  return std::make_shared<const Message>(account_message("did:plc:a", Timestamp(), true, ""));
}

std::shared_ptr<const Message> info() {
  auto message = std::make_shared<Message>();
  message->bytes = {1, 2, 3};
  return message;
}

constexpr std::size_t kRoomy = 1'000'000;

TEST(Message, number_stands_where_it_belongs) {
  for (const std::int64_t seq : {1L, 23L, 24L, 255L, 256L, 70'000L, 5'000'000'000L}) {
    const test_cases::OpenFrame frame(numbered(*account_said(), seq));
    EXPECT_EQ(frame.type(), "#account");
    EXPECT_EQ(frame.field("seq").integer(), seq);
    EXPECT_EQ(frame.field("did").string(), "did:plc:a");
  }
  EXPECT_EQ(numbered(*info(), 7), info()->bytes);
}

TEST(MessageLog, numbers_may_stand_apart) {
  MessageLog log(kRoomy, 1'000, 3);
  EXPECT_EQ(log.publish(account_said()), 1'000);
  EXPECT_EQ(log.publish(info()), 0);
  EXPECT_EQ(log.publish(account_said()), 1'003);
  EXPECT_EQ(log.position_after(1'000, false), 2U);
  EXPECT_EQ(log.position_after(1'001, false), 2U);
}

TEST(MessageLog, numbers_what_has_a_number) {
  MessageLog log(kRoomy);
  EXPECT_EQ(log.first_seq(), std::nullopt);
  EXPECT_EQ(log.publish(info()), 0);
  EXPECT_EQ(log.publish(account_said()), 1);
  EXPECT_EQ(log.publish(info()), 0);
  EXPECT_EQ(log.publish(account_said()), 2);
  EXPECT_EQ(log.publish_with_last_seq(account_said()), 2);
  log.skip_numbers(5);
  EXPECT_EQ(log.publish(account_said()), 8);
  EXPECT_EQ(log.end(), 6U);
  EXPECT_EQ(log.seq(0), std::nullopt);
  EXPECT_EQ(log.seq(4), 2);
  EXPECT_EQ(log.first_seq(), 1);
  EXPECT_EQ(log.last_seq(), 8);
  EXPECT_EQ(*log.frame(0), info()->bytes);
  EXPECT_EQ(*log.frame(5), numbered(*account_said(), 8));
}

TEST(MessageLog, finds_what_follows_a_cursor) {
  MessageLog log(kRoomy);
  for (int i = 0; i < 4; ++i) log.publish(account_said());
  log.skip_numbers(2);
  log.publish(account_said());  // 7
  EXPECT_EQ(log.position_after(0, false), 0U);
  EXPECT_EQ(log.position_after(2, false), 2U);
  EXPECT_EQ(log.position_after(2, true), 1U);
  EXPECT_EQ(log.position_after(5, true), 4U);
  EXPECT_EQ(log.position_after(7, false), log.end());
}

TEST(MessageLog, keeps_the_newest_bytes) {
  const std::size_t size = account_said()->bytes.size();
  MessageLog log(size * 3);
  for (int i = 0; i < 10; ++i) log.publish(account_said());
  EXPECT_EQ(log.begin(), 7U);
  EXPECT_EQ(log.end(), 10U);
  EXPECT_EQ(log.first_seq(), 8);
  EXPECT_EQ(*log.frame(7), numbered(*account_said(), 8));
  EXPECT_EQ(log.position_after(2, false), 7U);

  MessageLog tiny(1);
  tiny.publish(account_said());
  tiny.publish(account_said());
  EXPECT_EQ(tiny.begin(), 1U);
  EXPECT_EQ(tiny.end(), 2U);
}

TEST(MessageLog, frame_outlives_the_window) {
  MessageLog log(1);
  log.publish(account_said());
  const auto held = log.frame(0);
  log.publish(account_said());
  EXPECT_EQ(*held, numbered(*account_said(), 1));
}

TEST(MessageLog, restart_numbers_all_anew_at_new_positions) {
  MessageLog log(kRoomy, 1'000);
  for (int i = 0; i < 3; ++i) log.publish(account_said());
  EXPECT_EQ(log.first_seq(), 1'000);
  int woken = 0;
  const auto next = log.when_past(4, [&] { ++woken; });
  log.skip_numbers(7);
  log.publish(account_said());
  const auto runs = log.restart_numbers();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(std::tuple(runs[0].old_first, runs[0].new_first, runs[0].count),
            std::tuple(1'000, 1, 3));
  EXPECT_EQ(std::tuple(runs[1].old_first, runs[1].new_first, runs[1].count),
            std::tuple(1'010, 4, 1));
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(log.begin(), 4U);
  EXPECT_EQ(log.end(), 8U);
  EXPECT_EQ(log.first_seq(), 1);
  EXPECT_EQ(log.last_seq(), 4);
  EXPECT_EQ(*log.frame(4), numbered(*account_said(), 1));
  EXPECT_EQ(log.publish(account_said()), 5);
  EXPECT_EQ(log.position_after(1'001, false), log.end());
}

TEST(MessageLog, wakes_once_who_waits) {
  MessageLog log(kRoomy);
  int woken = 0;
  const auto next = log.when_past(0, [&] { ++woken; });
  const auto third = log.when_past(2, [&] { woken += 10; });
  EXPECT_EQ(woken, 0);
  log.publish(account_said());
  EXPECT_EQ(woken, 1);
  log.publish(account_said());
  EXPECT_EQ(woken, 1);
  log.publish(account_said());
  EXPECT_EQ(woken, 11);
  const auto late = log.when_past(1, [&] { woken += 100; });
  EXPECT_EQ(woken, 111);
}

TEST(MessageLog, dropped_token_is_not_called) {
  MessageLog log(kRoomy);
  bool woken = false;
  log.when_past(0, [&] { woken = true; }).reset();
  // One waiter takes another's token back while both are due.
  FrameSource::Token second;
  const auto first = log.when_past(0, [&] { second.reset(); });
  second = log.when_past(0, [&] { woken = true; });
  log.publish(account_said());
  EXPECT_FALSE(woken);
}

TEST(MessageLog, waiter_may_wait_anew_and_publish) {
  MessageLog log(kRoomy);
  std::string order;
  FrameSource::Token again;
  const auto first = log.when_past(0, [&] {
    order += 'a';
    again = log.when_past(1, [&] { order += 'b'; });
    log.publish(account_said());
  });
  const auto second = log.when_past(0, [&] { order += 'c'; });
  log.publish(account_said());
  EXPECT_EQ(order, "abc");
}

}  // namespace
}  // namespace skua::sim::message_log_test
