#include "backfill/hosts/host_pace.hpp"

#include <chrono>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backfill/hosts/decaying_rate.hpp"

namespace skua::backfill::host_pace_test {
namespace {

using namespace std::chrono_literals;
using End = HostOutcome::End;
using transport::RateLimit;

const Timestamp kStart{std::chrono::hours(500'000)};

HostOutcome outcome(End end) {
  HostOutcome outcome;
  outcome.end = end;
  outcome.duration = 100ms;
  if (end == End::Answered) {
    outcome.repository = true;
  } else {
    outcome.error = "an error";
  }
  return outcome;
}

HostOutcome limited_for(std::chrono::seconds wait) {
  auto limited = outcome(End::Limited);
  limited.asked_wait = wait;
  return limited;
}

/// A host and a clock: whoever downloads from it waits as he is told.
class HostPaceTest : public ::testing::Test {
 protected:
  /// Starts what may start and lets all of it end in the same way, 100 ms later. How many.
  std::size_t round(const HostOutcome& ending) {
    const auto count = pace_.free(now_);
    for (std::size_t i = 0; i < count; ++i) pace_.started(now_);
    const auto started_at = std::exchange(now_, now_ + 100ms);
    for (std::size_t i = 0; i < count; ++i) finish(ending, started_at);
    return count;
  }

  void finish(HostOutcome ending, Timestamp started_at) {
    ending.started_at = started_at;
    pace_.finished(ending, now_);
  }

  /// Goes on to the moment when something may start. How long that was.
  std::chrono::milliseconds sit_out() {
    const auto next = pace_.next_start(now_);
    if (!next) return 0ms;
    const auto waited = *next - now_;
    EXPECT_EQ(pace_.free(*next - 1us), 0U);
    now_ = *next;
    EXPECT_GE(pace_.free(now_), 1U);
    return std::chrono::ceil<std::chrono::milliseconds>(waited);
  }

  Timestamp now_ = kStart;
  HostPace pace_{HostPaceOptions{}};
};

TEST_F(HostPaceTest, doubles_with_each_round_of_answers_until_the_first_trouble) {
  std::vector<std::size_t> rounds;
  for (int i = 0; i < 4; ++i) rounds.push_back(round(outcome(End::Answered)));
  EXPECT_EQ(rounds, (std::vector<std::size_t>{4, 8, 16, 16}));
}

TEST_F(HostPaceTest, grows_by_one_for_as_many_answers_as_it_is_itself_after_trouble) {
  for (int i = 0; i < 3; ++i) round(outcome(End::Answered));
  round(outcome(End::Failed));
  ASSERT_EQ(pace_.at_once(), 8U);
  std::vector<std::size_t> rounds;
  for (int i = 0; i < 20; ++i) rounds.push_back(round(outcome(End::Answered)));
  EXPECT_EQ(rounds.front(), 8U);
  for (std::size_t i = 1; i < rounds.size(); ++i) {
    EXPECT_GE(rounds[i], rounds[i - 1]);
    EXPECT_LE(rounds[i], rounds[i - 1] + 1);
  }
  EXPECT_EQ(rounds.back(), 16U);
}

TEST_F(HostPaceTest, grows_when_the_request_begins_long_after_its_place_was_taken) {
  // Documents are looked up in between; how long that takes is not the host's doing.
  for (int i = 0; i < 30; ++i) {
    const auto started_at = now_;
    const auto count = pace_.free(now_);
    for (std::size_t j = 0; j < count; ++j) pace_.started(now_);
    now_ += 10s;
    for (std::size_t j = 0; j < count; ++j) finish(outcome(End::Answered), started_at);
  }
  EXPECT_EQ(pace_.at_once(), 16U);
}

TEST_F(HostPaceTest, does_not_grow_on_slow_answers) {
  auto slow = outcome(End::Answered);
  slow.duration = 2500ms;
  for (int i = 0; i < 30; ++i) {
    now_ += 3s;
    EXPECT_EQ(round(slow), 4U);
  }
  // So long for so much is not slow.
  slow.bytes = 512 * 1024;
  for (int i = 0; i < 30; ++i) {
    now_ += 3s;
    round(slow);
  }
  EXPECT_EQ(pace_.at_once(), 16U);
}

TEST_F(HostPaceTest, does_not_grow_when_it_is_not_used_up) {
  for (int i = 0; i < 200; ++i) {
    const auto started_at = now_;
    pace_.started(now_);
    now_ += 100ms;
    finish(outcome(End::Answered), started_at);
  }
  EXPECT_EQ(pace_.at_once(), 4U);
}

struct Ending {
  const char* name;
  HostOutcome outcome;
  /// The waits after each row of endings of its kind, in seconds.
  std::vector<int> waits;
};

void PrintTo(const Ending& ending, std::ostream* out) {
  *out << ending.name;
}

class HostPaceEndings : public HostPaceTest, public ::testing::WithParamInterface<Ending> {};

TEST_P(HostPaceEndings, is_spared_longer_each_time_and_then_comes_back_slowly) {
  for (int i = 0; i < 30; ++i) round(outcome(End::Answered));
  ASSERT_EQ(pace_.at_once(), 16U);
  std::vector<int> waits;
  for (std::size_t i = 0; i < GetParam().waits.size(); ++i) {
    EXPECT_GE(round(GetParam().outcome), 1U);
    const auto wait = sit_out();
    EXPECT_EQ(wait % 1s, 0ms);
    waits.push_back(static_cast<int>(wait / 1s));
    if (wait > 0s) {
      EXPECT_EQ(pace_.free(now_), 1U) << "one feels the way";
    }
  }
  EXPECT_EQ(waits, GetParam().waits);
  // It recovers.
  std::size_t rounds = 0;
  for (; pace_.at_once() < 16; ++rounds) {
    ASSERT_LT(rounds, 200U);
    ASSERT_GE(round(outcome(End::Answered)), 1U);
  }
  EXPECT_GE(rounds, 10U);
}

INSTANTIATE_TEST_SUITE_P(
    Table, HostPaceEndings,
    ::testing::Values(
        Ending{"bare_429", outcome(End::Limited), {5, 10, 20, 40, 80, 160, 300, 300}},
        Ending{"asked_429", limited_for(60s), {60, 60, 60, 60, 80, 160, 300, 300}},
        Ending{"asked_for_nothing", limited_for(0s), {5, 10, 20}},
        Ending{"asked_for_a_year", limited_for(24h * 365), {3600, 3600}},
        Ending{"unreachable",
               outcome(End::Unreachable),
               {2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600}},
        Ending{"failed", outcome(End::Failed), {0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600}}),
    [](const auto& test) { return test.param.name; });

TEST_F(HostPaceTest, halves_once_for_all_that_were_under_way) {
  for (int i = 0; i < 30; ++i) round(outcome(End::Answered));
  EXPECT_EQ(round(outcome(End::Failed)), 16U);
  EXPECT_EQ(pace_.at_once(), 8U);
  EXPECT_EQ(pace_.next_start(now_), std::nullopt);
  EXPECT_EQ(pace_.failures(), 16U);
}

TEST_F(HostPaceTest, one_error_among_answers_causes_no_wait) {
  for (int i = 0; i < 50; ++i) {
    round(outcome(End::Failed));
    EXPECT_EQ(pace_.next_start(now_), std::nullopt);
    round(outcome(End::Answered));
  }
}

TEST_F(HostPaceTest, an_answer_takes_one_doubling_off) {
  for (int i = 0; i < 4; ++i) {
    round(outcome(End::Limited));
    sit_out();
  }
  EXPECT_EQ(round(outcome(End::Answered)), 1U);
  EXPECT_EQ(round(outcome(End::Answered)), 1U);
  round(outcome(End::Limited));
  EXPECT_EQ(sit_out(), 20s);
}

TEST_F(HostPaceTest, keeps_the_longest_wait_of_those_under_way) {
  for (int i = 0; i < 4; ++i) pace_.started(now_);
  now_ += 100ms;
  pace_.finished(limited_for(100s), now_);
  pace_.finished(limited_for(200s), now_);
  pace_.finished(limited_for(1s), now_);
  finish(outcome(End::Answered), now_);
  EXPECT_EQ(sit_out(), 200s);
}

TEST_F(HostPaceTest, keeps_a_wait_that_a_good_answer_asks_for) {
  auto last = outcome(End::Answered);
  last.asked_wait = 70s;
  EXPECT_EQ(round(last), 4U);
  EXPECT_EQ(sit_out(), 70s);
  EXPECT_EQ(pace_.free(now_), 8U);
}

TEST_F(HostPaceTest, what_is_ours_says_nothing_about_the_host) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(round(outcome(End::Ours)), 4U);
  EXPECT_EQ(pace_.last_error(), "an error");
}

TEST_F(HostPaceTest, spreads_what_is_left_of_a_limit) {
  auto answer = outcome(End::Answered);
  answer.rate_limit = RateLimit{6000, 599, 300s};
  pace_.started(now_);
  finish(answer, now_);
  // 600 intervals in 300 s.
  std::size_t started = 0;
  for (const auto end = now_ + 300s; now_ < end;) {
    ASSERT_EQ(pace_.free(now_), pace_.next_start(now_) ? 0U : 1U);
    sit_out();
    if (now_ >= end) break;
    pace_.started(now_);
    finish(outcome(End::Answered), now_);
    ++started;
  }
  EXPECT_LE(started, 599U);
  EXPECT_GE(started, 590U);
  EXPECT_EQ(pace_.free(now_), 4U);
}

TEST_F(HostPaceTest, does_not_spread_while_much_is_left) {
  auto answer = outcome(End::Answered);
  answer.rate_limit = RateLimit{6000, 700, 300s};
  EXPECT_EQ(round(answer), 4U);
  EXPECT_EQ(round(answer), 8U);
}

TEST_F(HostPaceTest, takes_those_under_way_for_not_counted_yet) {
  for (int i = 0; i < 4; ++i) pace_.started(now_);
  auto answer = outcome(End::Answered);
  answer.rate_limit = RateLimit{100, 3, 60s};
  finish(answer, now_);
  // Three are left, and three under way: nothing before the window ends.
  EXPECT_EQ(sit_out(), 60s);
}

TEST_F(HostPaceTest, does_not_spread_beyond_the_window) {
  auto answer = outcome(End::Answered);
  answer.rate_limit = RateLimit{100, 1, 60s};
  pace_.started(now_);
  finish(answer, now_);
  EXPECT_EQ(sit_out(), 30s);
  // The next would be at 61 s, but then another window has begun.
  now_ += 1s;
  pace_.started(now_);
  finish(outcome(End::Answered), now_);
  EXPECT_EQ(sit_out(), 29s);
}

TEST_F(HostPaceTest, spreads_over_an_hour_at_most) {
  auto answer = outcome(End::Answered);
  answer.rate_limit = RateLimit{100, 0, 24h * 365};
  pace_.started(now_);
  finish(answer, now_);
  EXPECT_EQ(sit_out(), 1h);
}

TEST_F(HostPaceTest, is_idle_when_nothing_is_under_way_and_no_wait_is_on) {
  pace_.started(now_);
  EXPECT_EQ(pace_.idle_since(), std::nullopt);
  now_ += 1s;
  finish(outcome(End::Answered), now_);
  EXPECT_EQ(pace_.idle_since(), now_);
  pace_.started(now_);
  now_ += 1s;
  pace_.finished(limited_for(30s), now_);
  EXPECT_EQ(pace_.idle_since(), now_ + 30s);
}

TEST_F(HostPaceTest, refuses_to_finish_what_was_not_started) {
  EXPECT_THROW(pace_.finished(outcome(End::Answered), now_), std::logic_error);
}

TEST(HostPace, starts_smaller_when_the_most_is_smaller) {
  HostPaceOptions options;
  options.at_most = 2;
  EXPECT_EQ(HostPace(options).free(kStart), 2U);
  options.at_most = 0;
  EXPECT_EQ(HostPace(options).free(kStart), 1U);
}

TEST(DecayingRate, is_what_happens_a_second_and_fades) {
  DecayingRate rate;
  auto now = kStart;
  for (int i = 0; i < 6000; ++i) rate.add(1, now += 100ms);
  EXPECT_NEAR(rate.per_second(now), 10, 0.1);
  EXPECT_NEAR(rate.per_second(now + 1min), 3.7, 0.1);
  EXPECT_NEAR(rate.per_second(now + 1h), 0, 0.1);
  EXPECT_NEAR(rate.per_second(now - 1h), 10, 0.1) << "a clock that was set back";
}

}  // namespace
}  // namespace skua::backfill::host_pace_test
