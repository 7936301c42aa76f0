#include <gtest/gtest.h>

#include "base/metric.hpp"

namespace skua::latency_histogram_test {
namespace {

using std::chrono::microseconds;

TEST(LatencyHistogram, of_nothing_says_zero) {
  EXPECT_EQ(LatencyHistogram::quantile(LatencyHistogram().counts(), 0.5), microseconds(0));
}

TEST(LatencyHistogram, every_duration_is_told_within_a_quarter_from_above) {
  for (std::int64_t value = 0; value < 3'600'000'000; value += 1 + value / 7) {
    LatencyHistogram histogram;
    histogram.add(microseconds(value));
    const auto told = LatencyHistogram::quantile(histogram.counts(), 0.5).count();
    EXPECT_GE(told, value);
    EXPECT_LE(told, value + value / 4) << value;
  }
}

TEST(LatencyHistogram, quantiles_are_shares_of_what_was_counted) {
  LatencyHistogram histogram;
  for (int i = 0; i < 98; ++i) histogram.add(microseconds(2));
  histogram.add(microseconds(1'000));
  histogram.add(microseconds(1'000'000));
  const auto counts = histogram.counts();
  EXPECT_EQ(LatencyHistogram::quantile(counts, 0.5), microseconds(2));
  EXPECT_EQ(LatencyHistogram::quantile(counts, 0.98), microseconds(2));
  EXPECT_NEAR(static_cast<double>(LatencyHistogram::quantile(counts, 0.99).count()), 1'000, 250);
  EXPECT_GE(LatencyHistogram::quantile(counts, 1), microseconds(1'000'000));
}

TEST(LatencyHistogram, tells_what_lies_between_two_moments) {
  LatencyHistogram histogram;
  histogram.add(microseconds(3));
  const auto before = histogram.counts();
  histogram.add(microseconds(70));
  const auto since = LatencyHistogram::between(before, histogram.counts());
  EXPECT_GE(LatencyHistogram::quantile(since, 0), microseconds(70));
}

TEST(LatencyHistogram, takes_what_is_out_of_range) {
  LatencyHistogram histogram;
  histogram.add(microseconds(-5));
  EXPECT_EQ(LatencyHistogram::quantile(histogram.counts(), 1), microseconds(0));
  histogram.add(microseconds(std::int64_t{1} << 50));
  EXPECT_GE(LatencyHistogram::quantile(histogram.counts(), 1), std::chrono::hours(1));
}

}  // namespace
}  // namespace skua::latency_histogram_test
