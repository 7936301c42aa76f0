#include "transport/adaptive_limit.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <ostream>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace skua::transport::adaptive_limit_test {
namespace {

using namespace std::chrono_literals;
using End = RequestOutcome::End;

const Timestamp kStart{std::chrono::hours(500'000)};

RequestOutcome ended(End end) {
  RequestOutcome outcome;
  outcome.end = end;
  return outcome;
}

RequestOutcome limited_for(std::chrono::seconds wait) {
  auto outcome = ended(End::Limited);
  outcome.asked_wait = wait;
  return outcome;
}

TEST(RequestBudget, fills_with_time_up_to_its_burst) {
  RequestBudget budget(4);
  Timestamp now{std::chrono::hours(1000)};
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(budget.take(now));
  EXPECT_FALSE(budget.take(now));
  EXPECT_FALSE(budget.take(now + 249ms));
  EXPECT_TRUE(budget.take(now + 251ms));
  EXPECT_FALSE(budget.take(now));  // the clock was set back
  now += 1h;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(budget.take(now));
  EXPECT_FALSE(budget.take(now));
}

TEST(RequestBudget, a_new_rate_counts_from_its_moment_on) {
  RequestBudget budget(4);
  Timestamp now{std::chrono::hours(1000)};
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(budget.take(now));
  now += 250ms;
  budget.set_rate(1, now);
  EXPECT_TRUE(budget.take(now));  // what had come before
  EXPECT_FALSE(budget.take(now + 999ms));
  EXPECT_TRUE(budget.take(now + 1s));
  now += 1h;
  EXPECT_TRUE(budget.take(now));
  EXPECT_FALSE(budget.take(now)) << "its burst is that of the new rate";
}

/// A clock, a server that answers each request after the same time, and a client that always has
/// another request.
class RequestsPerSecond : public ::testing::Test {
 protected:
  /// Sends requests for a time. Returns the number of started requests.
  std::size_t ask_for(std::chrono::milliseconds time) {
    std::size_t started = 0;
    for (const auto end = now_ + time; now_ < end; now_ += 1ms) {
      for (; !under_way_.empty() && under_way_.begin()->first <= now_;) {
        auto outcome = answer_;
        outcome.started_at = under_way_.begin()->second;
        outcome.duration = latency_;
        under_way_.erase(under_way_.begin());
        rate_->finished(outcome, now_);
      }
      while (rate_->start(now_)) {
        under_way_.emplace(now_ + latency_, now_);
        most_at_once_ = std::max(most_at_once_, under_way_.size());
        ++started;
      }
    }
    return started;
  }

  /// Ends all active requests, and starts no new ones.
  void finish_all() {
    for (const auto& [end, started_at] : under_way_) {
      auto outcome = answer_;
      outcome.started_at = started_at;
      outcome.duration = latency_;
      now_ = std::max(now_, end);
      rate_->finished(outcome, now_);
    }
    under_way_.clear();
  }

  void begin_with(const AdaptiveLimitOptions& options) { rate_.emplace(options); }

  Timestamp now_ = kStart;
  std::chrono::milliseconds latency_ = 10ms;
  RequestOutcome answer_ = ended(End::Answered);
  std::multimap<Timestamp, Timestamp> under_way_;
  std::size_t most_at_once_ = 0;
  std::optional<AdaptiveLimit> rate_{requests_per_second()};
};

TEST_F(RequestsPerSecond, quick_answers_raise_it_to_its_bound_and_no_further) {
  EXPECT_EQ(rate_->limit(), 50);
  EXPECT_LE(ask_for(1s), 250U);
  EXPECT_GE(rate_->limit(), 100);
  ask_for(9s);
  EXPECT_EQ(rate_->limit(), 500);
  EXPECT_LE(ask_for(10s), 5'010U);
}

TEST_F(RequestsPerSecond, asks_for_two_thousand_documents_in_less_than_ten_seconds) {
  EXPECT_GE(ask_for(7s), 2'000U);
}

TEST_F(RequestsPerSecond, stays_where_it_is_while_it_is_not_used_up) {
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(rate_->start(now_));
    auto outcome = ended(End::Answered);
    outcome.started_at = now_;
    outcome.duration = 10ms;
    now_ += 100ms;
    rate_->finished(outcome, now_);
  }
  EXPECT_EQ(rate_->limit(), 50);
}

TEST_F(RequestsPerSecond, bounds_what_is_under_way) {
  EXPECT_EQ(rate_->at_once(), 13U);  // a quarter of a second's
  latency_ = 400ms;
  ask_for(60s);
  EXPECT_EQ(rate_->limit(), 500);
  EXPECT_EQ(most_at_once_, 64U);
}

TEST_F(RequestsPerSecond, answers_that_are_neither_quick_nor_slow_change_nothing) {
  latency_ = 1s;
  ask_for(60s);
  EXPECT_EQ(rate_->limit(), 50);
  EXPECT_EQ(most_at_once_, 13U);
}

TEST_F(RequestsPerSecond, slow_answers_lower_it_to_where_it_began) {
  ask_for(20s);
  ASSERT_EQ(rate_->limit(), 500);
  finish_all();
  latency_ = 3s;
  ask_for(3100ms);
  EXPECT_EQ(rate_->limit(), 250) << "once for all that were under way";
  ask_for(60s);
  EXPECT_EQ(rate_->limit(), 50);
  EXPECT_EQ(rate_->at_once(), 13U);
}

TEST_F(RequestsPerSecond, failures_lower_it_to_its_least) {
  ask_for(20s);
  answer_ = ended(End::Failed);
  ask_for(100ms);
  EXPECT_LT(rate_->limit(), 500);
  ask_for(60s);
  EXPECT_EQ(rate_->limit(), 5);
  EXPECT_EQ(rate_->at_once(), 2U);
  EXPECT_LE(ask_for(10s), 51U);
}

TEST_F(RequestsPerSecond, one_failure_among_answers_changes_nothing) {
  ask_for(20s);
  for (int i = 0; i < 50; ++i) {
    finish_all();
    ASSERT_TRUE(rate_->start(now_));
    auto failed = ended(End::Failed);
    failed.started_at = now_;
    rate_->finished(failed, now_);
    ask_for(100ms);
  }
  EXPECT_EQ(rate_->limit(), 500);
}

TEST_F(RequestsPerSecond, recovers_by_ten_a_second_each_second) {
  ask_for(20s);
  answer_ = ended(End::Failed);
  ask_for(60s);
  finish_all();
  ASSERT_EQ(rate_->limit(), 5);
  answer_ = ended(End::Answered);
  ask_for(10s);
  EXPECT_NEAR(rate_->limit(), 105, 10);
  ask_for(50s);
  EXPECT_EQ(rate_->limit(), 500);
}

struct Limited {
  const char* name;
  std::optional<std::chrono::seconds> asked;
  std::chrono::seconds waited;
};

class RequestsPerSecondLimited : public RequestsPerSecond,
                                 public ::testing::WithParamInterface<Limited> {};

TEST_P(RequestsPerSecondLimited, halves_it_and_nothing_starts_before_the_wait_is_over) {
  ask_for(20s);
  finish_all();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(rate_->start(now_));
  auto refused = ended(End::Limited);
  refused.asked_wait = GetParam().asked;
  refused.started_at = now_;
  now_ += 20ms;
  for (int i = 0; i < 5; ++i) rate_->finished(refused, now_);
  EXPECT_EQ(rate_->limit(), 250);
  EXPECT_FALSE(rate_->start(now_ + GetParam().waited - 1us));
  EXPECT_TRUE(rate_->start(now_ + GetParam().waited));
}

INSTANTIATE_TEST_SUITE_P(Table, RequestsPerSecondLimited,
                         ::testing::Values(Limited{"bare", std::nullopt, 10s},
                                           Limited{"asked", 42s, 42s}, Limited{"nothing", 0s, 1s},
                                           Limited{"a_year", 24h * 365, 300s}),
                         [](const auto& test) { return test.param.name; });

TEST_F(RequestsPerSecond, keeps_a_wait_that_a_good_answer_asks_for) {
  ASSERT_TRUE(rate_->start(now_));
  auto last = ended(End::Answered);
  last.started_at = now_;
  last.asked_wait = 70s;
  rate_->finished(last, now_);
  EXPECT_FALSE(rate_->start(now_ + 69s));
  EXPECT_TRUE(rate_->start(now_ + 70s));
}

TEST_F(RequestsPerSecond, a_clock_that_is_set_back_does_not_make_a_wait_longer) {
  ASSERT_TRUE(rate_->start(now_));
  auto refused = limited_for(60s);
  refused.started_at = now_;
  rate_->finished(refused, now_);
  now_ -= 24h;
  EXPECT_FALSE(rate_->start(now_));
  EXPECT_TRUE(rate_->start(now_ + 5min));
}

TEST_F(RequestsPerSecond, what_is_ours_says_nothing_about_the_server) {
  answer_ = ended(End::Ours);
  ask_for(10s);
  EXPECT_EQ(rate_->limit(), 50);
}

TEST_F(RequestsPerSecond, refuses_to_finish_what_was_not_started) {
  EXPECT_THROW(rate_->finished(ended(End::Answered), now_), std::logic_error);
}

TEST_F(RequestsPerSecond, its_bounds_agree) {
  AdaptiveLimitOptions options = requests_per_second();
  options.at_most = 2;
  options.active_at_most = 0;
  begin_with(options);
  EXPECT_EQ(rate_->limit(), 2);
  EXPECT_EQ(rate_->at_once(), 1U);
}

/// A directory that permits a number of requests in each window, states its limit, and refuses
/// further requests.
class WindowedDirectory {
 public:
  WindowedDirectory(std::int64_t limit, std::chrono::seconds window)
      : limit_(limit), window_(window) {}

  RequestOutcome answer(Timestamp now) {
    if (now >= window_end_) {
      window_end_ = now + window_;
      used_ = 0;
    }
    const auto reset = std::chrono::ceil<std::chrono::seconds>(window_end_ - now);
    if (++used_ > limit_) {
      ++refused;
      return limited_for(reset);
    }
    auto outcome = ended(End::Answered);
    outcome.rate_limit = RateLimit{limit_, limit_ - used_, reset};
    if (used_ == limit_) outcome.asked_wait = reset;
    return outcome;
  }

  std::size_t refused = 0;

 private:
  const std::int64_t limit_;
  const std::chrono::seconds window_;
  Timestamp window_end_;
  std::int64_t used_ = 0;
};

TEST_F(RequestsPerSecond, stays_within_a_stated_limit) {
  WindowedDirectory directory(3'000, 300s);
  std::deque<RequestOutcome> under_way;
  std::size_t started = 0;
  for (const auto end = now_ + 1200s; now_ < end; now_ += 1ms) {
    while (!under_way.empty() && under_way.front().started_at + 20ms <= now_) {
      under_way.front().duration = 20ms;
      rate_->finished(under_way.front(), now_);
      under_way.pop_front();
    }
    while (rate_->start(now_)) {
      under_way.push_back(directory.answer(now_));
      under_way.back().started_at = now_;
      ++started;
    }
  }
  EXPECT_EQ(directory.refused, 0U);
  EXPECT_GE(started, 11'000U) << "and makes use of it";
}

/// Whatever the server does, the rate and what is under way stay within their bounds, no wait that
/// was asked for is broken, and requests start again in the end.
TEST_F(RequestsPerSecond, stays_within_its_bounds_whatever_the_server_does) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const auto choose = [&](int from, int to) {
      return std::uniform_int_distribution<int>(from, to)(random);
    };
    begin_with(requests_per_second());
    now_ = kStart;
    std::multimap<Timestamp, RequestOutcome> ends;
    Timestamp asked_until = now_;
    std::size_t started_in_second = 0;
    Timestamp second = now_;
    for (const auto end = now_ + 120s; now_ < end; now_ += 5ms) {
      while (!ends.empty() && ends.begin()->first <= now_) {
        auto outcome = ends.begin()->second;
        ends.erase(ends.begin());
        outcome.end = static_cast<End>(choose(0, 3));
        if (choose(0, 20) == 0) outcome.asked_wait = std::chrono::seconds(choose(0, 4));
        if (choose(0, 20) == 0) {
          outcome.rate_limit =
              RateLimit{std::nullopt, choose(0, 1'000'000'000), std::chrono::seconds(choose(0, 3))};
        }
        if (outcome.asked_wait) asked_until = std::max(asked_until, now_ + *outcome.asked_wait);
        rate_->finished(outcome, now_);
      }
      if (now_ >= second + 1s) {
        second = now_;
        started_in_second = 0;
      }
      while (rate_->start(now_)) {
        ASSERT_GE(now_, asked_until) << seed;
        RequestOutcome outcome;
        outcome.started_at = now_;
        outcome.duration = std::chrono::milliseconds(choose(1, 6'000));
        ends.emplace(now_ + outcome.duration, outcome);
        ASSERT_LE(++started_in_second, 1'000U) << seed;  // a second's, and a burst of as many
      }
      ASSERT_LE(rate_->active(), 64U) << seed;
      ASSERT_GE(rate_->limit(), 5) << seed;
      ASSERT_LE(rate_->limit(), 500) << seed;
    }
    for (const auto& [at, outcome] : ends) rate_->finished(outcome, now_);
    EXPECT_TRUE(rate_->start(now_ + 10min)) << seed;
  }
}

RequestOutcome outcome(End end) {
  RequestOutcome outcome;
  outcome.end = end;
  outcome.duration = 100ms;
  return outcome;
}

RequestOutcome limited_host(std::chrono::seconds wait) {
  auto limited = outcome(End::Limited);
  limited.asked_wait = wait;
  return limited;
}

/// A host and a clock. Downloads wait as the limit requires.
class RequestsAtOnce : public ::testing::Test {
 protected:
  /// Starts all requests that the limit permits, and ends them in the same way 100 ms later.
  /// Returns their number.
  std::size_t round(const RequestOutcome& ending) {
    const auto count = limit_.free(now_);
    for (std::size_t i = 0; i < count; ++i) limit_.started(now_);
    const auto started_at = std::exchange(now_, now_ + 100ms);
    for (std::size_t i = 0; i < count; ++i) finish(ending, started_at);
    return count;
  }

  void finish(RequestOutcome ending, Timestamp started_at) {
    ending.started_at = started_at;
    limit_.finished(ending, now_);
  }

  /// Advances the clock to the time when a request may start. Returns the duration.
  std::chrono::milliseconds sit_out() {
    const auto next = limit_.next_start(now_);
    if (!next) return 0ms;
    const auto waited = *next - now_;
    EXPECT_EQ(limit_.free(*next - 1us), 0U);
    now_ = *next;
    EXPECT_GE(limit_.free(now_), 1U);
    return std::chrono::ceil<std::chrono::milliseconds>(waited);
  }

  Timestamp now_ = kStart;
  AdaptiveLimit limit_{requests_at_once()};
};

TEST_F(RequestsAtOnce, doubles_with_each_round_of_answers_until_the_first_trouble) {
  std::vector<std::size_t> rounds;
  for (int i = 0; i < 4; ++i) rounds.push_back(round(outcome(End::Answered)));
  EXPECT_EQ(rounds, (std::vector<std::size_t>{4, 8, 16, 16}));
}

TEST_F(RequestsAtOnce, grows_by_one_for_as_many_answers_as_it_is_itself_after_trouble) {
  for (int i = 0; i < 3; ++i) round(outcome(End::Answered));
  round(outcome(End::Failed));
  ASSERT_EQ(limit_.at_once(), 8U);
  std::vector<std::size_t> rounds;
  for (int i = 0; i < 20; ++i) rounds.push_back(round(outcome(End::Answered)));
  EXPECT_EQ(rounds.front(), 8U);
  for (std::size_t i = 1; i < rounds.size(); ++i) {
    EXPECT_GE(rounds[i], rounds[i - 1]);
    EXPECT_LE(rounds[i], rounds[i - 1] + 1);
  }
  EXPECT_EQ(rounds.back(), 16U);
}

TEST_F(RequestsAtOnce, grows_when_the_request_begins_long_after_its_place_was_taken) {
  // Documents are looked up in between. The host does not cause the duration of this.
  for (int i = 0; i < 30; ++i) {
    const auto started_at = now_;
    const auto count = limit_.free(now_);
    for (std::size_t j = 0; j < count; ++j) limit_.started(now_);
    now_ += 10s;
    for (std::size_t j = 0; j < count; ++j) finish(outcome(End::Answered), started_at);
  }
  EXPECT_EQ(limit_.at_once(), 16U);
}

TEST_F(RequestsAtOnce, does_not_grow_on_slow_answers) {
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
  EXPECT_EQ(limit_.at_once(), 16U);
}

TEST_F(RequestsAtOnce, does_not_grow_when_it_is_not_used_up) {
  for (int i = 0; i < 200; ++i) {
    const auto started_at = now_;
    limit_.started(now_);
    now_ += 100ms;
    finish(outcome(End::Answered), started_at);
  }
  EXPECT_EQ(limit_.at_once(), 4U);
}

struct Ending {
  const char* name;
  RequestOutcome outcome;
  /// The waits after each row of endings of its kind, in seconds.
  std::vector<int> waits;
};

void PrintTo(const Ending& ending, std::ostream* out) {
  *out << ending.name;
}

class RequestsAtOnceEndings : public RequestsAtOnce,
                              public ::testing::WithParamInterface<Ending> {};

TEST_P(RequestsAtOnceEndings, is_spared_longer_each_time_and_then_comes_back_slowly) {
  for (int i = 0; i < 30; ++i) round(outcome(End::Answered));
  ASSERT_EQ(limit_.at_once(), 16U);
  std::vector<int> waits;
  for (std::size_t i = 0; i < GetParam().waits.size(); ++i) {
    EXPECT_GE(round(GetParam().outcome), 1U);
    const auto wait = sit_out();
    EXPECT_EQ(wait % 1s, 0ms);
    waits.push_back(static_cast<int>(wait / 1s));
    if (wait > 0s) {
      EXPECT_EQ(limit_.free(now_), 1U) << "one feels the way";
    }
  }
  EXPECT_EQ(waits, GetParam().waits);
  // It recovers.
  std::size_t rounds = 0;
  for (; limit_.at_once() < 16; ++rounds) {
    ASSERT_LT(rounds, 200U);
    ASSERT_GE(round(outcome(End::Answered)), 1U);
  }
  EXPECT_GE(rounds, 10U);
}

INSTANTIATE_TEST_SUITE_P(
    Table, RequestsAtOnceEndings,
    ::testing::Values(
        Ending{"bare_429", outcome(End::Limited), {5, 10, 20, 40, 80, 160, 300, 300}},
        Ending{"asked_429", limited_host(60s), {60, 60, 60, 60, 80, 160, 300, 300}},
        Ending{"asked_for_nothing", limited_host(0s), {5, 10, 20}},
        Ending{"asked_for_a_year", limited_host(24h * 365), {3600, 3600}},
        Ending{"unreachable",
               outcome(End::Unreachable),
               {2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600}},
        Ending{"failed", outcome(End::Failed), {0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600}}),
    [](const auto& test) { return test.param.name; });

TEST_F(RequestsAtOnce, halves_once_for_all_that_were_under_way) {
  for (int i = 0; i < 30; ++i) round(outcome(End::Answered));
  EXPECT_EQ(round(outcome(End::Failed)), 16U);
  EXPECT_EQ(limit_.at_once(), 8U);
  EXPECT_EQ(limit_.next_start(now_), std::nullopt);
}

TEST_F(RequestsAtOnce, one_error_among_answers_causes_no_wait) {
  for (int i = 0; i < 50; ++i) {
    round(outcome(End::Failed));
    EXPECT_EQ(limit_.next_start(now_), std::nullopt);
    round(outcome(End::Answered));
  }
}

TEST_F(RequestsAtOnce, an_answer_takes_one_doubling_off) {
  for (int i = 0; i < 4; ++i) {
    round(outcome(End::Limited));
    sit_out();
  }
  EXPECT_EQ(round(outcome(End::Answered)), 1U);
  EXPECT_EQ(round(outcome(End::Answered)), 1U);
  round(outcome(End::Limited));
  EXPECT_EQ(sit_out(), 20s);
}

TEST_F(RequestsAtOnce, keeps_the_longest_wait_of_those_under_way) {
  for (int i = 0; i < 4; ++i) limit_.started(now_);
  now_ += 100ms;
  limit_.finished(limited_host(100s), now_);
  limit_.finished(limited_host(200s), now_);
  limit_.finished(limited_host(1s), now_);
  finish(outcome(End::Answered), now_);
  EXPECT_EQ(sit_out(), 200s);
}

TEST_F(RequestsAtOnce, keeps_a_wait_that_a_good_answer_asks_for) {
  auto last = outcome(End::Answered);
  last.asked_wait = 70s;
  EXPECT_EQ(round(last), 4U);
  EXPECT_EQ(sit_out(), 70s);
  EXPECT_EQ(limit_.free(now_), 8U);
}

TEST_F(RequestsAtOnce, what_is_ours_says_nothing_about_the_host) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(round(outcome(End::Ours)), 4U);
}

TEST_F(RequestsAtOnce, spreads_what_is_left_of_a_limit) {
  auto answer = outcome(End::Answered);
  answer.rate_limit = RateLimit{6000, 599, 300s};
  limit_.started(now_);
  finish(answer, now_);
  // 600 intervals in 300 s.
  std::size_t started = 0;
  for (const auto end = now_ + 300s; now_ < end;) {
    ASSERT_EQ(limit_.free(now_), limit_.next_start(now_) ? 0U : 1U);
    sit_out();
    if (now_ >= end) break;
    limit_.started(now_);
    finish(outcome(End::Answered), now_);
    ++started;
  }
  EXPECT_LE(started, 599U);
  EXPECT_GE(started, 590U);
  EXPECT_EQ(limit_.free(now_), 4U);
}

TEST_F(RequestsAtOnce, does_not_spread_while_much_is_left) {
  auto answer = outcome(End::Answered);
  answer.rate_limit = RateLimit{6000, 700, 300s};
  EXPECT_EQ(round(answer), 4U);
  EXPECT_EQ(round(answer), 8U);
}

TEST_F(RequestsAtOnce, takes_those_under_way_for_not_counted_yet) {
  for (int i = 0; i < 4; ++i) limit_.started(now_);
  auto answer = outcome(End::Answered);
  answer.rate_limit = RateLimit{100, 3, 60s};
  finish(answer, now_);
  // Three are left, and three under way: nothing before the window ends.
  EXPECT_EQ(sit_out(), 60s);
}

TEST_F(RequestsAtOnce, does_not_spread_beyond_the_window) {
  auto answer = outcome(End::Answered);
  answer.rate_limit = RateLimit{100, 1, 60s};
  limit_.started(now_);
  finish(answer, now_);
  EXPECT_EQ(sit_out(), 30s);
  // The next would be at 61 s, but then another window has begun.
  now_ += 1s;
  limit_.started(now_);
  finish(outcome(End::Answered), now_);
  EXPECT_EQ(sit_out(), 29s);
}

TEST_F(RequestsAtOnce, spreads_over_an_hour_at_most) {
  auto answer = outcome(End::Answered);
  answer.rate_limit = RateLimit{100, 0, 24h * 365};
  limit_.started(now_);
  finish(answer, now_);
  EXPECT_EQ(sit_out(), 1h);
}

TEST_F(RequestsAtOnce, is_idle_when_nothing_is_under_way_and_no_wait_is_on) {
  limit_.started(now_);
  EXPECT_EQ(limit_.idle_since(), std::nullopt);
  now_ += 1s;
  finish(outcome(End::Answered), now_);
  EXPECT_EQ(limit_.idle_since(), now_);
  limit_.started(now_);
  now_ += 1s;
  limit_.finished(limited_host(30s), now_);
  EXPECT_EQ(limit_.idle_since(), now_ + 30s);
}

TEST_F(RequestsAtOnce, refuses_to_finish_what_was_not_started) {
  EXPECT_THROW(limit_.finished(outcome(End::Answered), now_), std::logic_error);
}

TEST(RequestsAtOnceOptions, starts_smaller_when_the_most_is_smaller) {
  AdaptiveLimitOptions options = requests_at_once();
  options.at_most = 2;
  EXPECT_EQ(AdaptiveLimit(options).free(kStart), 2U);
  options.at_most = 0;
  EXPECT_EQ(AdaptiveLimit(options).free(kStart), 1U);
}

}  // namespace
}  // namespace skua::transport::adaptive_limit_test
