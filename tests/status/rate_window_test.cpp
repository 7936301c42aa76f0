#include "status/rate_window.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include "status/made_metrics.hpp"

namespace skua::status::rate_window_test {
namespace {

using namespace std::chrono_literals;

/// A process whose time and counts the test sets, seen by a window.
class RateWindowTest : public testing::Test {
 protected:
  RateWindowTest() : now_(test::made_metrics()) { now_.at = Timestamp(1'783'175'888s); }

  Rates after(std::chrono::seconds time, std::uint64_t events, std::uint64_t rows = 0,
              std::optional<std::int64_t> disk = std::nullopt) {
    now_.at += time;
    test::count_of(now_, "events") += events;
    test::count_of(now_, "rows") += rows;
    std::optional<DatabaseSize::Sample> sample;
    if (disk) sample = DatabaseSize::Sample{now_.at, *disk};
    return window_.add(now_, sample);
  }

  pipeline::Metrics now_;
  RateWindow window_;
};

TEST_F(RateWindowTest, begins_with_nothing) {
  const Rates rates = after(0s, 500, 500, 1'000);
  EXPECT_EQ(rates.events, 0);
  EXPECT_EQ(rates.rows, 0);
  EXPECT_FALSE(rates.disk_bytes);
}

TEST_F(RateWindowTest, gives_the_mean_of_what_there_is_of_the_first_minute) {
  after(0s, 0);
  EXPECT_EQ(after(5s, 500, 50).events, 100);
  const Rates rates = after(5s, 0, 50);
  EXPECT_EQ(rates.events, 50);
  EXPECT_EQ(rates.rows, 10);
}

TEST_F(RateWindowTest, gives_the_mean_over_a_minute) {
  after(0s, 0);
  after(5s, 60'000);  // A burst.
  for (int i = 0; i < 11; ++i) after(5s, 0);
  EXPECT_EQ(after(0s, 0).events, 1'000);
  EXPECT_EQ(after(5s, 0).events, 0);  // It is older than a minute now.
}

TEST_F(RateWindowTest, gives_the_mean_over_an_interval_that_is_longer_than_a_minute) {
  after(0s, 0);
  EXPECT_EQ(after(300s, 600).events, 2);
  EXPECT_EQ(after(300s, 1'200).events, 4);
}

TEST_F(RateWindowTest, knows_latencies_of_the_window_only) {
  now_.latency[10] = 7;
  after(0s, 0);
  now_.latency[20] = 3;
  const Rates rates = after(5s, 0);
  EXPECT_EQ(rates.latency[10], 0U);
  EXPECT_EQ(rates.latency[20], 3U);
}

TEST_F(RateWindowTest, tells_growth_on_disk_of_a_minute_and_of_no_less) {
  constexpr std::int64_t kStart = 1'000'000'000;
  std::int64_t size = kStart;
  after(0s, 0, 0, size);
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(after(5s, 0, 0, size += 500'000).disk_bytes) << i;
  for (int i = 0; i < 20; ++i) {
    const Rates rates = after(5s, 0, 0, size += 500'000);
    EXPECT_NEAR(rates.disk_bytes.value_or(0), 6e6, 1) << i;
  }
  EXPECT_FALSE(after(5s, 0).disk_bytes);  // The size is not known.
}

TEST_F(RateWindowTest, tells_that_space_was_given_back) {
  after(0s, 0, 0, 9'000'000);
  EXPECT_EQ(after(60s, 0, 0, 4'000'000).disk_bytes, -5'000'000);
}

TEST_F(RateWindowTest, begins_anew_when_the_clock_is_set_back) {
  after(0s, 0);
  after(60s, 600);
  EXPECT_EQ(after(-3'600s, 100).events, 0);
  EXPECT_EQ(after(10s, 100).events, 10);
}

TEST_F(RateWindowTest, counts_nothing_where_a_count_fell) {
  after(0s, 1'000);
  test::count_of(now_, "events") = 10;
  EXPECT_EQ(after(10s, 0).events, 0);
}

}  // namespace
}  // namespace skua::status::rate_window_test
