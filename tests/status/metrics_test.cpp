#include "status/metrics.hpp"

#include <chrono>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skua::status::metrics_test {
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

}  // namespace
}  // namespace skua::status::metrics_test
