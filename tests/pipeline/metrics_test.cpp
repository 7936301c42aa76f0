#include "pipeline/metrics.hpp"

#include <chrono>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/metric.hpp"
#include "status/made_metrics.hpp"

namespace skua::pipeline::metrics_test {
namespace {

using namespace std::chrono_literals;

Timestamp at(std::int64_t seconds) {
  return Timestamp(std::chrono::seconds(seconds));
}

/// A source that has read its newest event two seconds ago, and committed none.
Metrics read_at(std::int64_t seconds) {
  Metrics metrics;
  metrics.at = at(seconds);
  metrics.connected = true;
  metrics.newest = at(seconds - 2);
  return metrics;
}

TEST(Lag, is_not_known_before_the_first_event) {
  EXPECT_FALSE(lag_of(Metrics{}));
}

TEST(Lag, is_none_while_nothing_waits) {
  Metrics now = read_at(1'000);
  now.committed = at(10);
  EXPECT_EQ(lag_of(now), 0s);
}

TEST(Lag, is_the_age_of_the_newest_committed_event_while_others_wait) {
  Metrics now = read_at(1'000);
  now.waiting = 3;
  now.committed = at(970);
  EXPECT_EQ(lag_of(now), 30s);
  now.oldest_waiting = at(960);  // as when one waits for its key and others pass it
  EXPECT_EQ(lag_of(now), 30s);
}

TEST(Lag, is_no_more_than_the_age_of_what_waits) {
  Metrics now = read_at(1'000);
  now.waiting = 1;
  now.committed = at(400);  // ten quiet minutes ago
  now.oldest_waiting = at(999);
  EXPECT_EQ(lag_of(now), 1s);
}

TEST(Lag, before_the_first_commit_is_the_age_of_what_was_read) {
  Metrics now = read_at(1'000);
  now.waiting = 1;
  EXPECT_EQ(lag_of(now), 2s);
}

TEST(Lag, is_never_negative) {
  Metrics now = read_at(1'000);
  now.waiting = 1;
  now.committed = at(1'100);
  EXPECT_EQ(lag_of(now), 0s);
}

TEST(MetricsJson, has_the_lag_when_there_is_an_event) {
  Metrics now;
  now.at = at(100);
  EXPECT_FALSE(nlohmann::json::parse(to_json(now)).contains("lag_seconds"));
  now.newest = at(98);
  now.committed = at(95);
  now.waiting = 1;
  now.cursor = 7;
  now.role = Metrics::Role::Standby;
  const auto json = nlohmann::json::parse(to_json(now));
  EXPECT_EQ(json["lag_seconds"], 5.0);
  EXPECT_EQ(json["committed"], format_datetime(at(95)));
  EXPECT_EQ(json["cursor"], 7);
  EXPECT_EQ(json["role"], "standby");
}

TEST(MetricsJson, has_the_latencies_of_the_histogram_in_milliseconds) {
  Metrics now;
  LatencyHistogram histogram;
  histogram.add(10ms);
  now.latency = histogram.counts();
  const auto json = nlohmann::json::parse(to_json(now));
  const double upper =
      std::chrono::duration<double, std::milli>(LatencyHistogram::quantile(now.latency, 0.5))
          .count();
  EXPECT_EQ(json["commit_ms_p50"], upper);
  EXPECT_EQ(json["commit_ms_p99"], upper);
}

TEST(MetricsJson, has_the_reasons_that_were_counted) {
  pipeline::IntakeCounters intake;
  intake.drop(verify::errc::old_rev);
  intake.drop(verify::errc::old_rev);
  intake.drop(verify::errc::future_rev);
  intake.verified += 3;
  Metrics now;
  now.add(MetricScope::Pipeline, values_of(intake));
  const auto json = nlohmann::json::parse(to_json(now));
  EXPECT_EQ(json["dropped"], (nlohmann::json{{"old_rev", 2}, {"future_rev", 1}}));
  EXPECT_EQ(json["verified"], 3);
  EXPECT_THAT(now.counts_by_label("dropped"),
              testing::ElementsAre(testing::Pair("future_rev", 1), testing::Pair("old_rev", 2)));
}

TEST(Metrics, do_not_answer_for_a_count_that_nothing_counts) {
  const Metrics now = test::made_metrics();
  EXPECT_EQ(now.count("events"), 0U);
  EXPECT_THROW(now.count("evens"), std::out_of_range);
  EXPECT_THROW(Metrics().count("events"), std::out_of_range);
}

TEST(Total, is_the_sum_over_the_sources_but_of_what_the_process_counts_once) {
  Metrics relay = test::made_metrics();
  relay.role = Metrics::Role::Active;
  relay.latency[3] = 1;
  test::count_of(relay, "frames") = 5;
  test::count_of(relay, "events") = 12;
  Metrics standby = test::made_metrics();
  standby.role = Metrics::Role::Standby;
  test::count_of(standby, "frames") = 100;
  Metrics tap = relay;
  tap.role = Metrics::Role::Alone;
  test::count_of(tap, "frames") = 7;
  const Metrics all = total({standby, relay, tap});
  EXPECT_EQ(all.count("frames"), 12U);
  EXPECT_EQ(all.count("events"), 12U);
  EXPECT_EQ(all.latency[3], 2U);
}

}  // namespace
}  // namespace skua::pipeline::metrics_test
