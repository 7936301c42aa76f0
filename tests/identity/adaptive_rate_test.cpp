#include "identity/adaptive_rate.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

namespace skua::identity {
namespace {

using namespace std::chrono_literals;
using End = RequestOutcome::End;
using transport::RateLimit;

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

/// A server that answers each request after the same time, a clock, and a client that always has
/// more to ask.
class AdaptiveRateTest : public ::testing::Test {
 protected:
  /// Asks for so long. How many requests started.
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

  /// Ends what is under way, without asking anew.
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

  void begin_with(const AdaptiveRateOptions& options) { rate_.emplace(options); }

  Timestamp now_ = kStart;
  std::chrono::milliseconds latency_ = 10ms;
  RequestOutcome answer_ = ended(End::Answered);
  std::multimap<Timestamp, Timestamp> under_way_;
  std::size_t most_at_once_ = 0;
  std::optional<AdaptiveRate> rate_{AdaptiveRateOptions{}};
};

TEST_F(AdaptiveRateTest, quick_answers_raise_it_to_its_bound_and_no_further) {
  EXPECT_EQ(rate_->per_second(), 50);
  EXPECT_LE(ask_for(1s), 250U);
  EXPECT_GE(rate_->per_second(), 100);
  ask_for(9s);
  EXPECT_EQ(rate_->per_second(), 500);
  EXPECT_LE(ask_for(10s), 5'010U);
}

TEST_F(AdaptiveRateTest, asks_for_two_thousand_documents_in_less_than_ten_seconds) {
  EXPECT_GE(ask_for(7s), 2'000U);
}

TEST_F(AdaptiveRateTest, stays_where_it_is_while_it_is_not_used_up) {
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(rate_->start(now_));
    auto outcome = ended(End::Answered);
    outcome.started_at = now_;
    outcome.duration = 10ms;
    now_ += 100ms;
    rate_->finished(outcome, now_);
  }
  EXPECT_EQ(rate_->per_second(), 50);
}

TEST_F(AdaptiveRateTest, bounds_what_is_under_way) {
  EXPECT_EQ(rate_->at_once(), 13U);  // a quarter of a second's
  latency_ = 400ms;
  ask_for(60s);
  EXPECT_EQ(rate_->per_second(), 500);
  EXPECT_EQ(most_at_once_, 64U);
}

TEST_F(AdaptiveRateTest, answers_that_are_neither_quick_nor_slow_change_nothing) {
  latency_ = 1s;
  ask_for(60s);
  EXPECT_EQ(rate_->per_second(), 50);
  EXPECT_EQ(most_at_once_, 13U);
}

TEST_F(AdaptiveRateTest, slow_answers_lower_it_to_where_it_began) {
  ask_for(20s);
  ASSERT_EQ(rate_->per_second(), 500);
  finish_all();
  latency_ = 3s;
  ask_for(3100ms);
  EXPECT_EQ(rate_->per_second(), 250) << "once for all that were under way";
  ask_for(60s);
  EXPECT_EQ(rate_->per_second(), 50);
  EXPECT_EQ(rate_->at_once(), 13U);
}

TEST_F(AdaptiveRateTest, failures_lower_it_to_its_least) {
  ask_for(20s);
  answer_ = ended(End::Failed);
  ask_for(100ms);
  EXPECT_LT(rate_->per_second(), 500);
  ask_for(60s);
  EXPECT_EQ(rate_->per_second(), 5);
  EXPECT_EQ(rate_->at_once(), 2U);
  EXPECT_LE(ask_for(10s), 51U);
}

TEST_F(AdaptiveRateTest, one_failure_among_answers_changes_nothing) {
  ask_for(20s);
  for (int i = 0; i < 50; ++i) {
    finish_all();
    ASSERT_TRUE(rate_->start(now_));
    auto failed = ended(End::Failed);
    failed.started_at = now_;
    rate_->finished(failed, now_);
    ask_for(100ms);
  }
  EXPECT_EQ(rate_->per_second(), 500);
}

TEST_F(AdaptiveRateTest, recovers_by_ten_a_second_each_second) {
  ask_for(20s);
  answer_ = ended(End::Failed);
  ask_for(60s);
  finish_all();
  ASSERT_EQ(rate_->per_second(), 5);
  answer_ = ended(End::Answered);
  ask_for(10s);
  EXPECT_NEAR(rate_->per_second(), 105, 10);
  ask_for(50s);
  EXPECT_EQ(rate_->per_second(), 500);
}

struct Limited {
  const char* name;
  std::optional<std::chrono::seconds> asked;
  std::chrono::seconds waited;
};

class AdaptiveRateLimited : public AdaptiveRateTest,
                            public ::testing::WithParamInterface<Limited> {};

TEST_P(AdaptiveRateLimited, halves_it_and_nothing_starts_before_the_wait_is_over) {
  ask_for(20s);
  finish_all();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(rate_->start(now_));
  auto refused = ended(End::Limited);
  refused.asked_wait = GetParam().asked;
  refused.started_at = now_;
  now_ += 20ms;
  for (int i = 0; i < 5; ++i) rate_->finished(refused, now_);
  EXPECT_EQ(rate_->per_second(), 250);
  EXPECT_FALSE(rate_->start(now_ + GetParam().waited - 1us));
  EXPECT_TRUE(rate_->start(now_ + GetParam().waited));
}

INSTANTIATE_TEST_SUITE_P(Table, AdaptiveRateLimited,
                         ::testing::Values(Limited{"bare", std::nullopt, 10s},
                                           Limited{"asked", 42s, 42s}, Limited{"nothing", 0s, 1s},
                                           Limited{"a_year", 24h * 365, 300s}),
                         [](const auto& test) { return test.param.name; });

TEST_F(AdaptiveRateTest, keeps_a_wait_that_a_good_answer_asks_for) {
  ASSERT_TRUE(rate_->start(now_));
  auto last = ended(End::Answered);
  last.started_at = now_;
  last.asked_wait = 70s;
  rate_->finished(last, now_);
  EXPECT_FALSE(rate_->start(now_ + 69s));
  EXPECT_TRUE(rate_->start(now_ + 70s));
}

TEST_F(AdaptiveRateTest, a_clock_that_is_set_back_does_not_make_a_wait_longer) {
  ASSERT_TRUE(rate_->start(now_));
  auto refused = limited_for(60s);
  refused.started_at = now_;
  rate_->finished(refused, now_);
  now_ -= 24h;
  EXPECT_FALSE(rate_->start(now_));
  EXPECT_TRUE(rate_->start(now_ + 5min));
}

TEST_F(AdaptiveRateTest, what_is_ours_says_nothing_about_the_server) {
  answer_ = ended(End::Ours);
  ask_for(10s);
  EXPECT_EQ(rate_->per_second(), 50);
}

TEST_F(AdaptiveRateTest, refuses_to_finish_what_was_not_started) {
  EXPECT_THROW(rate_->finished(ended(End::Answered), now_), std::logic_error);
}

TEST_F(AdaptiveRateTest, its_bounds_agree) {
  AdaptiveRateOptions options;
  options.at_most = 2;
  options.under_way_at_most = 0;
  begin_with(options);
  EXPECT_EQ(rate_->per_second(), 2);
  EXPECT_EQ(rate_->at_once(), 1U);
}

/// A directory that allows so many requests in each window, states so, and refuses more.
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

TEST_F(AdaptiveRateTest, stays_within_a_stated_limit) {
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
TEST_F(AdaptiveRateTest, stays_within_its_bounds_whatever_the_server_does) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const auto choose = [&](int from, int to) {
      return std::uniform_int_distribution<int>(from, to)(random);
    };
    begin_with({});
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
      ASSERT_LE(rate_->under_way(), 64U) << seed;
      ASSERT_GE(rate_->per_second(), 5) << seed;
      ASSERT_LE(rate_->per_second(), 500) << seed;
    }
    for (const auto& [at, outcome] : ends) rate_->finished(outcome, now_);
    EXPECT_TRUE(rate_->start(now_ + 10min)) << seed;
  }
}

}  // namespace
}  // namespace skua::identity
