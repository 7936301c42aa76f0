#include "pages/quiet_collections.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skua::pages::quiet_collections_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class QuietCollectionsTest : public testing::Test {
 protected:
  /// Events come for so long at these rates a minute.
  void pass(std::chrono::minutes time, const std::map<std::string, std::uint64_t>& rates) {
    for (auto passed = 0min; passed < time; ++passed) {
      now_ += 1min;
      for (const auto& [name, rate] : rates) totals_[name] += rate;
      quiet_.add({totals_.begin(), totals_.end()}, now_);
    }
  }

  QuietCollections::TimePoint now_{1h};
  std::map<std::string, std::uint64_t> totals_;
  QuietCollections quiet_;
};

TEST_F(QuietCollectionsTest, finds_a_collection_that_stopped_while_another_continues) {
  pass(61min, {{"like", 100}, {"post", 10}});
  EXPECT_THAT(quiet_.quiet(), IsEmpty());
  pass(9min, {{"like", 100}, {"post", 0}});
  EXPECT_THAT(quiet_.quiet(), IsEmpty());
  pass(1min, {{"like", 100}, {"post", 0}});
  EXPECT_THAT(quiet_.quiet(), ElementsAre("post"));
}

TEST_F(QuietCollectionsTest, forgets_it_with_its_next_event) {
  pass(61min, {{"like", 100}, {"post", 10}});
  pass(11min, {{"like", 100}, {"post", 0}});
  ASSERT_THAT(quiet_.quiet(), ElementsAre("post"));
  pass(1min, {{"like", 100}, {"post", 1}});
  EXPECT_THAT(quiet_.quiet(), IsEmpty());
}

TEST_F(QuietCollectionsTest, reports_it_for_six_windows) {
  pass(61min, {{"like", 100}, {"post", 10}});
  pass(11min, {{"like", 100}, {"post", 0}});
  ASSERT_THAT(quiet_.quiet(), ElementsAre("post"));
  pass(58min, {{"like", 100}, {"post", 0}});
  EXPECT_THAT(quiet_.quiet(), ElementsAre("post"));
  pass(10min, {{"like", 100}, {"post", 0}});
  EXPECT_THAT(quiet_.quiet(), IsEmpty());
}

TEST_F(QuietCollectionsTest, an_event_ends_it_for_good) {
  pass(61min, {{"like", 100}, {"post", 10}});
  pass(11min, {{"like", 100}, {"post", 0}});
  ASSERT_THAT(quiet_.quiet(), ElementsAre("post"));
  pass(1min, {{"like", 100}, {"post", 1}});
  pass(20min, {{"like", 100}, {"post", 0}});
  EXPECT_THAT(quiet_.quiet(), IsEmpty());
}

TEST_F(QuietCollectionsTest, a_rare_collection_is_never_quiet) {
  pass(61min, {{"like", 100}, {"rare", 1}});
  pass(11min, {{"like", 100}, {"rare", 0}});
  EXPECT_THAT(quiet_.quiet(), IsEmpty());
}

TEST_F(QuietCollectionsTest, a_collection_that_came_in_one_burst_was_not_steady) {
  pass(30min, {{"like", 100}, {"burst", 0}});
  pass(1min, {{"like", 100}, {"burst", 100'000}});
  pass(41min, {{"like", 100}, {"burst", 0}});
  EXPECT_THAT(quiet_.quiet(), IsEmpty());
}

TEST_F(QuietCollectionsTest, says_nothing_when_all_stopped) {
  pass(61min, {{"like", 100}, {"post", 10}});
  pass(11min, {{"like", 0}, {"post", 0}});
  EXPECT_THAT(quiet_.quiet(), IsEmpty());
}

TEST_F(QuietCollectionsTest, says_nothing_before_it_knows_an_hour) {
  pass(58min, {{"like", 100}, {"post", 10}});
  pass(11min, {{"like", 100}, {"post", 0}});
  EXPECT_THAT(quiet_.quiet(), IsEmpty());
}

TEST_F(QuietCollectionsTest, begins_again_when_the_counts_do) {
  pass(61min, {{"like", 100}, {"post", 10}});
  totals_ = {{"like", 0}, {"post", 0}};
  pass(11min, {{"like", 1}, {"post", 0}});
  EXPECT_THAT(quiet_.quiet(), IsEmpty());
}

TEST_F(QuietCollectionsTest, begins_again_after_a_pause_of_the_machine) {
  pass(61min, {{"like", 100}, {"post", 10}});
  now_ += 20min;
  pass(1min, {{"like", 100}, {"post", 0}});
  EXPECT_THAT(quiet_.quiet(), IsEmpty());
}

TEST_F(QuietCollectionsTest, the_counts_at_the_start_are_not_events) {
  totals_ = {{"like", 1'000'000}, {"post", 1'000'000}};
  pass(59min, {{"like", 100}, {"post", 0}});
  pass(12min, {{"like", 100}, {"post", 0}});
  EXPECT_THAT(quiet_.quiet(), IsEmpty());
}

TEST_F(QuietCollectionsTest, the_window_can_be_chosen) {
  QuietCollections quiet(60s);
  for (int second = 0; second < 7 * 60 + 10; ++second) {
    now_ += 1s;
    totals_["like"] += 1;
    totals_["post"] += second < 6 * 60 + 5 ? 1 : 0;
    quiet.add({totals_.begin(), totals_.end()}, now_);
    // The latest part of the window is not complete.
    if (second < 7 * 60 - 6) {
      EXPECT_THAT(quiet.quiet(), IsEmpty()) << second;
    }
  }
  EXPECT_THAT(quiet.quiet(), ElementsAre("post"));
}

TEST_F(QuietCollectionsTest, several_calls_a_minute_count_the_same) {
  for (int second = 0; second < 72 * 60; second += 10) {
    now_ += 10s;
    totals_["like"] += 10;
    totals_["post"] += second < 61 * 60 ? 10 : 0;
    quiet_.add({totals_.begin(), totals_.end()}, now_);
  }
  EXPECT_THAT(quiet_.quiet(), ElementsAre("post"));
}

}  // namespace
}  // namespace skua::pages::quiet_collections_test
