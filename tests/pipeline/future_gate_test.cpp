#include "pipeline/future_gate.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/manual_clock.hpp"

namespace skua::pipeline::future_gate_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Seqs = std::vector<std::int64_t>;

class FutureGateTest : public testing::Test {
 protected:
  /// True: it went on. `ahead`: of our clock, the message's time and its revision alike.
  bool pass(const std::string& account, std::chrono::microseconds ahead) {
    return pass(account, MessageDates{rev(ahead), clock_.now() + ahead});
  }
  bool pass(const std::string& account, const MessageDates& dates) {
    AdmittedMessage message;
    message.seq = ++seq_;
    message.bytes = Bytes(account.begin(), account.end());
    message.did = as_text(message.bytes);
    return gate_.pass(message, dates, now_);
  }
  atproto::Tid rev(std::chrono::microseconds ahead) const {
    return atproto::Tid::from_time(clock_.now() + ahead, 0);
  }
  Seqs released() {
    Seqs seqs;
    for (const auto& message : gate_.release(now_)) seqs.push_back(message.seq);
    return seqs;
  }

  test::ManualClock clock_;
  IntakeCounters intake_;
  FutureGate gate_{clock_, intake_};
  FutureGate::SteadyTime now_;
  std::int64_t seq_ = 0;
};

TEST_F(FutureGateTest, what_is_of_the_present_goes_on) {
  EXPECT_TRUE(pass("a", 0s));
  EXPECT_TRUE(pass("a", 4min));
  EXPECT_TRUE(pass("a", -24h));
  EXPECT_TRUE(pass("a", MessageDates{}));
  EXPECT_TRUE(gate_.empty());
}

TEST_F(FutureGateTest, a_clock_that_is_ten_minutes_behind_stops_nothing) {
  for (const char* account : {"a", "b", "c", "d", "e", "f"}) EXPECT_TRUE(pass(account, 10min));
}

TEST_F(FutureGateTest, a_message_that_denies_its_revision_goes_on_to_be_dropped) {
  for (const char* account : {"a", "b", "c", "d", "e", "f"}) {
    EXPECT_TRUE(pass(account, MessageDates{rev(48h), clock_.now()}));
  }
}

TEST_F(FutureGateTest, a_host_of_the_future_waits_for_the_first_of_the_present_and_no_longer) {
  EXPECT_FALSE(pass("a", 2h));
  EXPECT_EQ(intake_.frames_held, 1U);
  EXPECT_THAT(released(), IsEmpty());
  EXPECT_FALSE(pass("b", 0s));
  EXPECT_THAT(released(), ElementsAre(1, 2));
  EXPECT_EQ(intake_.frames_held, 0U);
  EXPECT_TRUE(pass("b", 0s));
}

TEST_F(FutureGateTest, several_accounts_of_the_future_hold_everything_until_the_clock_is_right) {
  int account = 0;
  for (; account < 20; ++account) EXPECT_FALSE(pass(std::to_string(account), 3h));
  EXPECT_FALSE(pass("who knows", MessageDates{}));
  now_ += 24h;
  EXPECT_THAT(released(), IsEmpty());
  EXPECT_EQ(intake_.frames_held, 21U);
  clock_.advance(3h);
  EXPECT_EQ(released().size(), 21U);
  EXPECT_TRUE(pass("a", 0s));
}

TEST_F(FutureGateTest, what_goes_on_is_of_the_present_each) {
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(pass(std::to_string(i), 2h + i * 1min));
  clock_.advance(1h + 56min);
  // The later of the clock and the message's time, within an hour.
  EXPECT_EQ(released().size(), 10U);
}

TEST_F(FutureGateTest, goes_on_one_by_one_as_the_clock_moves) {
  for (int i = 0; i < 6; ++i) EXPECT_FALSE(pass(std::to_string(i), 2h + i * 1min));
  clock_.advance(57min);
  EXPECT_THAT(released(), ElementsAre(1, 2, 3));
  EXPECT_FALSE(pass("6", -2h)) << "it stays behind those before it";
  clock_.advance(3min);
  EXPECT_THAT(released(), ElementsAre(4, 5, 6, 7));
}

TEST_F(FutureGateTest, a_crowd_of_the_future_cannot_hold_a_larger_one_of_the_present) {
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(pass("bad " + std::to_string(i), 300h));
  EXPECT_THAT(released(), IsEmpty());
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(pass("good " + std::to_string(i), 0s));
  // The same ones again make no crowd.
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(pass("good " + std::to_string(i), 1s));
  EXPECT_THAT(released(), IsEmpty());
  EXPECT_FALSE(pass("good 9", 0s));
  EXPECT_EQ(released().size(), 29U);
}

TEST_F(FutureGateTest, few_are_not_waited_for_for_ever) {
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(pass(std::to_string(i), 300h));
  now_ += FutureGate::kHoldTime - 1s;
  EXPECT_THAT(released(), IsEmpty());
  now_ += 1s;
  EXPECT_THAT(released(), ElementsAre(1, 2, 3, 4));
}

TEST_F(FutureGateTest, a_source_that_says_no_times_is_judged_by_revisions_alone) {
  EXPECT_FALSE(pass("a", MessageDates{rev(10min), Timestamp{}}));
  EXPECT_FALSE(pass("b", MessageDates{rev(0min), Timestamp{}}));
  EXPECT_THAT(released(), ElementsAre(1, 2));
}

}  // namespace
}  // namespace skua::pipeline::future_gate_test
