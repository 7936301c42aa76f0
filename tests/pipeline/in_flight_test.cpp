#include "pipeline/in_flight.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <semaphore>
#include <span>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/bounded_queue.hpp"

namespace skua::pipeline::in_flight_test {
namespace {

Timestamp at(std::int64_t microseconds) {
  return Timestamp(std::chrono::microseconds(microseconds));
}

void finish(InFlightList& list, InFlightList::Ticket ticket) {
  list.finish(std::vector{ticket}, Timestamp{});
}

TEST(InFlightList, watermark_is_the_end_of_the_contiguous_finished_prefix) {
  InFlightList list({});
  std::vector<InFlightList::Ticket> tickets;
  for (const std::int64_t seq : {11, 12, 13, 14, 15}) {
    tickets.push_back(*list.admit({.seq = seq, .bytes = 1}));
    list.decoded(tickets.back(), 1, at(seq * 10));
  }
  EXPECT_FALSE(list.watermark());
  finish(list, tickets[1]);
  EXPECT_FALSE(list.watermark());
  finish(list, tickets[0]);
  EXPECT_EQ(list.watermark()->seq, 12);
  EXPECT_EQ(list.watermark()->time, at(120));
  finish(list, tickets[3]);
  EXPECT_EQ(list.watermark()->seq, 12);
  finish(list, tickets[2]);
  EXPECT_EQ(list.watermark()->seq, 14);
  EXPECT_EQ(list.frames(), 1U);
}

TEST(InFlightList, backlog_tells_how_old_what_is_durable_and_what_waits_is) {
  InFlightList list({});
  EXPECT_EQ(list.backlog().waiting, 0U);
  EXPECT_FALSE(list.backlog().newest_committed);
  EXPECT_FALSE(list.backlog().oldest_waiting);
  std::vector<InFlightList::Ticket> tickets;
  for (const std::int64_t seq : {11, 12, 13}) tickets.push_back(*list.admit({.seq = seq}));
  EXPECT_FALSE(list.backlog().oldest_waiting) << "it is not decoded yet";
  list.made_at(tickets[0], at(110));
  EXPECT_EQ(list.backlog().oldest_waiting, at(110)) << "it is read, and waits for a key";
  for (std::size_t i = 0; i < 3; ++i) list.decoded(tickets[i], 1, at(110 + 10 * i));
  finish(list, tickets[1]);
  EXPECT_EQ(list.backlog().waiting, 2U);
  EXPECT_EQ(list.backlog().newest_committed, at(120)) << "beyond the watermark";
  EXPECT_EQ(list.backlog().oldest_waiting, at(110));
  finish(list, tickets[0]);
  EXPECT_EQ(list.backlog().newest_committed, at(120)) << "it never goes back";
  EXPECT_EQ(list.backlog().oldest_waiting, at(130));
  finish(list, tickets[2]);
  EXPECT_EQ(list.backlog().waiting, 0U);
  EXPECT_EQ(list.backlog().newest_committed, at(130));
  EXPECT_FALSE(list.backlog().oldest_waiting);
}

TEST(InFlightList, an_account_has_a_share_of_the_bytes_and_frames) {
  InFlightList list({.frames = 320, .bytes = 8'000});
  const auto admit = [&](std::uint64_t account, std::size_t bytes) {
    return *list.admit({.seq = 1, .bytes = bytes, .account = account});
  };
  EXPECT_TRUE(list.has_share(1, 1'000));
  const auto first = admit(1, 600);
  EXPECT_TRUE(list.has_share(1, 400));
  EXPECT_FALSE(list.has_share(1, 401));
  EXPECT_TRUE(list.has_share(2, 1'000));
  // A single message that is larger than the share passes.
  EXPECT_TRUE(list.has_share(3, 5'000));
  list.decoded(first, 1, Timestamp{});
  EXPECT_FALSE(list.has_share(1, 401)) << "its events are not durable yet";
  finish(list, first);
  EXPECT_TRUE(list.has_share(1, 1'000));
  // A message without events.
  list.decoded(admit(1, 1'000), 0, Timestamp{});
  EXPECT_TRUE(list.has_share(1, 1'000));
  for (int i = 0; i < 10; ++i) admit(4, 1);
  EXPECT_FALSE(list.has_share(4, 1));
  EXPECT_TRUE(list.has_share(5, 1));
}

TEST(InFlightList, backlog_counts_frames_without_events_as_no_commit) {
  InFlightList list({});
  const auto waiting = *list.admit({.seq = 1});
  list.decoded(waiting, 1, at(10));
  list.decoded(*list.admit({.seq = 2}), 0, at(900));
  EXPECT_EQ(list.backlog().waiting, 1U);
  EXPECT_FALSE(list.backlog().newest_committed);
  EXPECT_EQ(list.backlog().oldest_waiting, at(10));
}

TEST(InFlightList, backlog_does_not_believe_a_time_far_in_the_future_or_none) {
  using namespace std::chrono_literals;
  InFlightList list({});
  const Timestamp now = at(0) + 1h;
  const auto believed = *list.admit({.seq = 1, .received_at = now});
  const auto ahead = *list.admit({.seq = 2, .received_at = now});
  const auto untimed = *list.admit({.seq = 3, .received_at = now});
  list.decoded(believed, 1, now + 4min);
  list.decoded(ahead, 1, now + 6min);
  list.decoded(untimed, 1, Timestamp{});
  finish(list, believed);
  EXPECT_FALSE(list.backlog().oldest_waiting);
  finish(list, ahead);
  finish(list, untimed);
  EXPECT_EQ(list.backlog().newest_committed, now + 4min);
}

TEST(InFlightList, each_stream_has_a_watermark_that_waits_for_what_came_before_of_all) {
  InFlightList list({});
  const auto first = *list.admit({.stream = 0, .seq = 11, .bytes = 1});
  const auto second = *list.admit({.stream = 0, .seq = 12, .bytes = 1});
  const auto third = *list.admit({.stream = 1, .seq = 700, .bytes = 1});
  for (const auto ticket : {first, second, third}) list.decoded(ticket, 1, at(0));
  EXPECT_EQ(list.stream_of(second), 0U);
  EXPECT_EQ(list.stream_of(third), 1U);
  finish(list, third);
  finish(list, first);
  EXPECT_EQ(list.watermark(0)->seq, 11);
  EXPECT_FALSE(list.watermark(1));
  finish(list, second);
  EXPECT_EQ(list.watermark(0)->seq, 12);
  EXPECT_EQ(list.watermark(1)->seq, 700);
  list.pass(0, {500, at(0)});
  list.pass(1, {5, at(0)});
  EXPECT_EQ(list.watermark(0)->seq, 500);
  EXPECT_EQ(list.watermark(1)->seq, 700);
  list.restart(1);
  EXPECT_EQ(list.watermark(0)->seq, 500);
  EXPECT_EQ(list.watermark(1)->seq, 0);
}

TEST(InFlightList, a_frame_waits_for_all_of_its_events) {
  InFlightList list({});
  const auto ticket = *list.admit({.seq = 1, .bytes = 1});
  list.decoded(ticket, 3, {});
  list.finish(std::vector{ticket, ticket}, Timestamp{});
  EXPECT_FALSE(list.watermark());
  finish(list, ticket);
  EXPECT_EQ(list.watermark()->seq, 1);
}

TEST(InFlightList, says_which_frames_have_finished_in_whatever_order) {
  std::vector<InFlightList::Ticket> told;
  InFlightList list({}, [&](std::span<const InFlightList::Ticket> tickets) {
    told.insert(told.end(), tickets.begin(), tickets.end());
  });
  std::vector<InFlightList::Ticket> tickets;
  for (int i = 0; i < 3; ++i) tickets.push_back(*list.admit({.seq = i + 1, .bytes = 1}));
  list.decoded(tickets[0], 2, {});
  list.decoded(tickets[1], 1, {});
  finish(list, tickets[0]);
  EXPECT_TRUE(told.empty());
  finish(list, tickets[1]);
  list.decoded(tickets[2], 0, {});
  finish(list, tickets[0]);
  EXPECT_EQ(told, (std::vector{tickets[1], tickets[2], tickets[0]}));
}

TEST(InFlightList, a_frame_without_events_finishes_when_decoded) {
  InFlightList list({});
  const auto ticket = *list.admit({.seq = 7, .bytes = 1});
  EXPECT_FALSE(list.watermark());
  list.decoded(ticket, 0, {});
  EXPECT_EQ(list.watermark()->seq, 7);
}

TEST(InFlightList, a_frame_that_is_not_decoded_holds_the_watermark_back) {
  InFlightList list({});
  const auto first = *list.admit({.seq = 1, .bytes = 1});
  const auto second = *list.admit({.seq = 2, .bytes = 1});
  list.decoded(second, 0, {});
  EXPECT_FALSE(list.watermark());
  list.decoded(first, 0, {});
  EXPECT_EQ(list.watermark()->seq, 2);
}

TEST(InFlightList, frames_without_a_number_hold_back_but_do_not_move) {
  InFlightList list({});
  const auto numbered = *list.admit({.seq = 5, .bytes = 1});
  const auto unnumbered = *list.admit({.seq = 0, .bytes = 1});
  const auto next = *list.admit({.seq = 6, .bytes = 1});
  list.decoded(numbered, 0, {});
  list.decoded(next, 0, {});
  EXPECT_EQ(list.watermark()->seq, 5);
  list.decoded(unnumbered, 0, {});
  EXPECT_EQ(list.watermark()->seq, 6);
}

TEST(InFlightList, a_repeated_number_does_not_take_the_watermark_back) {
  InFlightList list({});
  for (const std::int64_t seq : {8, 9, 8})
    list.decoded(*list.admit({.seq = seq, .bytes = 1}), 0, {});
  EXPECT_EQ(list.watermark()->seq, 9);
}

TEST(InFlightList, numbers_that_begin_anew_do) {
  InFlightList list({});
  list.decoded(*list.admit({.seq = 900, .bytes = 1}), 0, {});
  const auto before = *list.admit({.seq = 901, .bytes = 1});
  list.restart();
  EXPECT_EQ(list.watermark()->seq, 0);
  list.decoded(before, 0, {});
  EXPECT_EQ(list.watermark()->seq, 0) << "an old number says nothing any more";
  list.decoded(*list.admit({.seq = 3, .bytes = 1}), 0, {});
  EXPECT_EQ(list.watermark()->seq, 3);
  list.decoded(*list.admit({.seq = 4, .bytes = 1}), 0, {});
  EXPECT_EQ(list.watermark()->seq, 4);
}

TEST(InFlightList, admits_no_more_frames_than_its_limit) {
  InFlightList list({.frames = 2, .bytes = 1'000});
  const auto first = *list.admit({.seq = 1, .bytes = 1});
  ASSERT_TRUE(list.admit({.seq = 2, .bytes = 1}));
  EXPECT_FALSE(list.admit({.seq = 3, .bytes = 1}));
  bool woken = false;
  list.when_room([&] { woken = true; });
  EXPECT_FALSE(woken);
  list.decoded(first, 0, {});
  EXPECT_TRUE(woken);
  EXPECT_TRUE(list.admit({.seq = 3, .bytes = 1}));
}

TEST(InFlightList, bytes_of_finished_frames_keep_nobody_out) {
  InFlightList list({.frames = 3, .bytes = 100});
  const auto slow = *list.admit({.seq = 1, .bytes = 60});
  list.decoded(slow, 1, {});
  const auto quick = *list.admit({.seq = 2, .bytes = 60});
  EXPECT_FALSE(list.admit({.seq = 3, .bytes = 60}));
  int woken = 0;
  list.when_room([&] { ++woken; });
  list.decoded(quick, 1, {});
  finish(list, quick);
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(list.bytes(), 60U);
  EXPECT_EQ(list.frames(), 2U) << "it has its place still";
  EXPECT_EQ(list.unfinished(), 1U);
  EXPECT_TRUE(list.admit({.seq = 3, .bytes = 60}));
  EXPECT_FALSE(list.admit({.seq = 4, .bytes = 1}));
}

TEST(InFlightList, admits_no_more_bytes_than_its_limit_but_always_one_frame) {
  InFlightList list({.frames = 10, .bytes = 100});
  const auto huge = list.admit({.seq = 1, .bytes = 5'000});
  ASSERT_TRUE(huge);
  EXPECT_FALSE(list.admit({.seq = 2, .bytes = 1}));
  list.decoded(*huge, 0, {});
  EXPECT_EQ(list.bytes(), 0U);
  EXPECT_TRUE(list.admit({.seq = 2, .bytes = 1}));
}

TEST(InFlightList, wakes_at_once_when_there_is_room) {
  InFlightList list({});
  bool woken = false;
  list.when_room([&] { woken = true; });
  EXPECT_TRUE(woken);
}

TEST(InFlightList, waiting_for_the_end_gives_up_at_the_deadline) {
  InFlightList list({});
  EXPECT_TRUE(list.wait_until_empty(std::chrono::steady_clock::now()));
  ASSERT_TRUE(list.admit({.seq = 1, .bytes = 1}));
  EXPECT_FALSE(list.wait_until_empty(std::chrono::steady_clock::now()));
}

TEST(InFlightList, waiting_for_few_ends_when_so_many_are_left) {
  InFlightList list({});
  std::vector<InFlightList::Ticket> tickets;
  for (const std::int64_t seq : {1, 2, 3, 4}) {
    tickets.push_back(*list.admit({.seq = seq, .bytes = 1}));
  }
  const auto at_most = [&](std::size_t frames) {
    return list.wait_until_at_most(frames, std::chrono::steady_clock::now());
  };
  EXPECT_TRUE(at_most(4));
  EXPECT_FALSE(at_most(3));
  // Those in the middle count as well, though the first holds their places.
  list.decoded(tickets[1], 0, {});
  EXPECT_TRUE(at_most(3));
  EXPECT_FALSE(at_most(2));
  list.decoded(tickets[2], 2, {});
  finish(list, tickets[2]);
  EXPECT_FALSE(at_most(2)) << "half of a frame is not finished";
  finish(list, tickets[2]);
  EXPECT_TRUE(at_most(2));
  EXPECT_EQ(list.frames(), 4U);
  list.decoded(tickets[0], 0, {});
  EXPECT_TRUE(at_most(1));
  EXPECT_FALSE(at_most(0));
  list.decoded(tickets[3], 0, {});
  EXPECT_TRUE(at_most(0));
}

TEST(InFlightList, who_waits_for_few_is_woken) {
  InFlightList list({});
  const auto first = *list.admit({.seq = 1, .bytes = 1});
  const auto second = *list.admit({.seq = 2, .bytes = 1});
  list.decoded(second, 1, {});
  std::jthread finishing([&] { finish(list, second); });
  EXPECT_TRUE(
      list.wait_until_at_most(1, std::chrono::steady_clock::now() + std::chrono::minutes(1)));
  std::jthread decoding([&] { list.decoded(first, 0, {}); });
  EXPECT_TRUE(
      list.wait_until_at_most(0, std::chrono::steady_clock::now() + std::chrono::minutes(1)));
}

TEST(InFlightList, knows_the_first_that_has_not_finished) {
  InFlightList list({});
  const auto begin = list.first_unfinished();
  const auto first = *list.admit({.seq = 1, .bytes = 1});
  EXPECT_EQ(first, begin) << "what comes is not before it";
  const auto second = *list.admit({.seq = 0, .bytes = 1});
  const auto third = *list.admit({.seq = 3, .bytes = 1});
  list.decoded(second, 0, {});
  EXPECT_EQ(list.first_unfinished(), first);
  list.decoded(first, 1, {});
  EXPECT_EQ(list.first_unfinished(), first);
  finish(list, first);
  EXPECT_EQ(list.first_unfinished(), third);
  list.restart();
  EXPECT_EQ(list.first_unfinished(), third) << "new numbers, the same frames";
  list.decoded(third, 0, {});
  EXPECT_GT(list.first_unfinished(), third);
}

/// Random frames and finishing orders against a model that is plainly right: look at all frames.
class InFlightInterleaving : public testing::TestWithParam<unsigned> {};

TEST_P(InFlightInterleaving, equals_the_naive_model) {
  std::mt19937 random(GetParam());
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  struct Frame {
    std::int64_t seq;
    InFlightList::Ticket ticket;
    std::size_t remaining;
  };
  InFlightList list({});
  std::vector<Frame> frames;
  std::int64_t seq = 0;
  for (int step = 0; step < 2'000; ++step) {
    std::vector<std::size_t> unfinished;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (frames[i].remaining > 0) unfinished.push_back(i);
    }
    if (unfinished.empty() || below(3) == 0) {
      seq += 1 + static_cast<std::int64_t>(below(5));
      const std::size_t events = below(4);
      const auto ticket = *list.admit({.seq = seq, .bytes = 10});
      list.decoded(ticket, events, {});
      frames.push_back({seq, ticket, events});
    } else {
      Frame& frame = frames[unfinished[below(unfinished.size())]];
      --frame.remaining;
      finish(list, frame.ticket);
    }
    std::optional<std::int64_t> expected;
    std::size_t in_flight = 0;
    std::size_t unfinished_now = 0;
    auto first_unfinished = frames.back().ticket + 1;
    bool contiguous = true;
    for (const Frame& frame : frames) {
      if (contiguous && frame.remaining > 0) first_unfinished = frame.ticket;
      contiguous = contiguous && frame.remaining == 0;
      if (contiguous) expected = frame.seq;
      if (!contiguous) ++in_flight;
      if (frame.remaining > 0) ++unfinished_now;
    }
    ASSERT_EQ(list.first_unfinished(), first_unfinished);
    const auto now = std::chrono::steady_clock::now();
    ASSERT_TRUE(list.wait_until_at_most(unfinished_now, now));
    if (unfinished_now > 0) {
      ASSERT_FALSE(list.wait_until_at_most(unfinished_now - 1, now));
    }
    ASSERT_EQ(list.watermark().has_value(), expected.has_value());
    if (expected) {
      ASSERT_EQ(list.watermark()->seq, *expected);
    }
    ASSERT_EQ(list.frames(), in_flight);
    ASSERT_EQ(list.bytes(), unfinished_now * 10);
    ASSERT_EQ(list.unfinished(), unfinished_now);
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, InFlightInterleaving, testing::Range(1U, 9U));

TEST(InFlightList, many_threads_finish_what_one_admits) {
  InFlightList list({.frames = 64, .bytes = 1 << 20});
  constexpr std::int64_t kFrames = 20'000;
  BoundedQueue<InFlightList::Ticket> tickets(1'000);
  std::vector<std::jthread> finishers;
  for (int i = 0; i < 4; ++i) {
    finishers.emplace_back([&] {
      while (const auto ticket = tickets.pop())
        list.finish(std::vector{*ticket, *ticket}, Timestamp{});
    });
  }
  for (std::int64_t seq = 1; seq <= kFrames; ++seq) {
    std::optional<InFlightList::Ticket> ticket;
    while (!(ticket = list.admit({.seq = seq, .bytes = 1}))) {
      std::binary_semaphore room(0);
      list.when_room([&] { room.release(); });
      room.acquire();
    }
    list.decoded(*ticket, 2, {});
    tickets.push(*ticket);
  }
  EXPECT_TRUE(list.wait_until_empty(std::chrono::steady_clock::now() + std::chrono::minutes(1)));
  tickets.close();
  EXPECT_EQ(list.watermark()->seq, kFrames);
}

}  // namespace
}  // namespace skua::pipeline::in_flight_test
