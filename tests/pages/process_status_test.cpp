#include "pages/process_status.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skua::pages::process_status_test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using status::LabelledMetric;

LabelledMetric metric(const char* name, MetricValue::Value value, const std::string& source = "",
                      const char* label = "") {
  LabelledMetric metric{{{"", name, "", "Made", label}, MetricKind::Gauge, std::move(value)}};
  if (!source.empty()) metric.labels = {{"source", source}};
  return metric;
}
LabelledMetric events(std::uint64_t count) {
  return metric("skua_events_total", count);
}
LabelledMetric connected(const std::string& source, bool is_connected) {
  return metric("skua_connected", is_connected, source);
}
LabelledMetric operations(const CountsByLabel& counts, const std::string& source = "relay:a") {
  return metric("skua_collection_operations_total", counts, source, "collection");
}

class ProcessStatusTest : public testing::Test {
 protected:
  using Metrics = ProcessStatus::Metrics;

  /// Adds a sample as the pages do, `at` after the start.
  void add(std::chrono::milliseconds at, const Metrics& metrics) {
    if (status_.is_due(kStart + at)) status_.add(metrics, kStart + at);
  }
  json page(std::chrono::milliseconds at, const Metrics& metrics,
            const std::vector<std::string>& quiet = {}) const {
    return json::parse(status_.json(metrics, quiet, kStart + at));
  }

  static constexpr ProcessStatus::TimePoint kStart{1'000s};
  ProcessStatus status_;
};

TEST_F(ProcessStatusTest, of_a_process_that_counts_nothing_has_unknown_numbers) {
  add(0s, {});
  const json found = page(10s, {metric("skua_other", std::uint64_t{7})});
  for (const char* key : {"events_per_second", "rows_per_second", "lag_seconds",
                          "in_flight_messages", "dead_letters"}) {
    EXPECT_TRUE(found.at(key).is_null()) << key;
  }
  EXPECT_TRUE(found["commit_latency_seconds"]["p50"].is_null());
  for (const char* key : {"sources", "workers", "collections"}) {
    EXPECT_EQ(found.at(key), json::array()) << key;
  }
}

TEST_F(ProcessStatusTest, has_rates_over_ten_seconds_and_of_collections_over_a_minute) {
  // One a second at first, then ten: only the minute knows the former rate.
  const auto count = [](int second) {
    return static_cast<std::uint64_t>(second <= 60 ? second : 60 + (second - 60) * 10);
  };
  for (int second = 0; second <= 600; ++second) {
    const Metrics metrics = {events(count(second)), operations({{"post", count(second)}})};
    add(second * 1s, metrics);
    const json found = page(second * 1s, metrics);
    if (second >= 75) {
      EXPECT_DOUBLE_EQ(found["events_per_second"], 10) << second;
    }
    if (second == 90) {
      EXPECT_DOUBLE_EQ(found["collections"][0]["per_second"], 5.5);
    }
    if (second >= 125) {
      EXPECT_DOUBLE_EQ(found["collections"][0]["per_second"], 10) << second;
    }
  }
}

TEST_F(ProcessStatusTest, has_rates_a_second_after_the_process_begins_to_count) {
  add(0s, {});
  add(1s, {events(0)});
  add(2s, {events(5)});
  EXPECT_TRUE(page(1'900ms, {events(5)})["events_per_second"].is_null());
  EXPECT_DOUBLE_EQ(page(3s, {events(10)})["events_per_second"], 5);
}

TEST_F(ProcessStatusTest, has_no_rate_of_what_one_sample_lacks_or_fell) {
  add(0s, {metric("skua_messages_total", std::uint64_t{10}, "a"),
           metric("skua_messages_total", std::uint64_t{50}, "b"),
           metric("skua_rows_total", std::uint64_t{100})});
  // `c` took over from `b`: its count is not a growth.
  const json found = page(10s, {connected("a", true), connected("b", true), connected("c", true),
                                metric("skua_messages_total", std::uint64_t{30}, "a"),
                                metric("skua_messages_total", std::uint64_t{900}, "c"),
                                // A counter that fell belongs to another run.
                                metric("skua_rows_total", std::uint64_t{90})});
  EXPECT_DOUBLE_EQ(found["sources"][0]["messages_per_second"], 2);
  EXPECT_TRUE(found["sources"][1]["messages_per_second"].is_null());
  EXPECT_TRUE(found["sources"][2]["messages_per_second"].is_null());
  EXPECT_TRUE(found["rows_per_second"].is_null());
}

TEST_F(ProcessStatusTest, has_the_state_of_each_source) {
  const Metrics metrics = {
      connected("relay:b", true),
      metric("skua_role", std::string("active"), "relay:b", "role"),
      metric("skua_cursor", std::int64_t{9'007'199'254'740'991}, "relay:b"),
      metric("skua_lag_seconds", 0.5, "relay:b"),
      metric("skua_waiting_accounts", std::uint64_t{4}, "relay:b"),
      metric("skua_dropped_total", CountsByLabel{{"old_rev", 3}, {"wrong_rev", 0}}, "relay:b",
             "reason"),
      metric("skua_in_flight_messages", std::uint64_t{7}, "relay:b"),
      connected("relay:a", false),
      metric("skua_lag_seconds", 9.0, "relay:a"),
      metric("skua_in_flight_messages", std::uint64_t{2}, "relay:a"),
  };
  const json found = page(0s, metrics);
  // In the order of the process.
  EXPECT_EQ(found["sources"][0], json::parse(R"({"source":"relay:b","is_connected":true,
    "role":"active","cursor":9007199254740991,"lag_seconds":0.5,"messages_per_second":null,
    "verified_per_second":null,"waiting_accounts":4,"dropped":{"old_rev":3}})"));
  EXPECT_EQ(found["sources"][1], json::parse(R"({"source":"relay:a","is_connected":false,
    "role":null,"cursor":null,"lag_seconds":null,"messages_per_second":null,
    "verified_per_second":null,"waiting_accounts":null,"dropped":{}})"));
  // Without a connection no event waits: its lag does not count.
  EXPECT_EQ(found["lag_seconds"], 0.5);
  EXPECT_EQ(found["in_flight_messages"], 9);
}

TEST_F(ProcessStatusTest, has_the_largest_lag) {
  EXPECT_EQ(page(0s, {connected("a", true), connected("b", true), connected("c", true),
                      metric("skua_lag_seconds", 1.0, "a"),
                      metric("skua_lag_seconds", 60.0, "b")})["lag_seconds"],
            60);
}

TEST_F(ProcessStatusTest, has_the_workers_in_their_order) {
  const auto workers = [](std::uint64_t finished) {
    return Metrics{metric("skua_worker_queued_events", CountsByLabel{{"live like 0", 7}, {"b", 0}},
                          "", "worker"),
                   metric("skua_worker_events_total",
                          CountsByLabel{{"live like 0", finished}, {"b", 0}}, "", "worker")};
  };
  add(0s, workers(100));
  EXPECT_EQ(page(10s, workers(200))["workers"], json::parse(R"([
    {"worker":"live like 0","queued_events":7,"events_per_second":10.0},
    {"worker":"b","queued_events":0,"events_per_second":0.0}])"));
}

TEST_F(ProcessStatusTest, has_the_collections_of_all_sources_with_the_most_frequent_first) {
  add(0s, {operations({{"like", 0}, {"post", 0}}), operations({{"post", 0}}, "tap:b")});
  const json found = page(
      10s,
      {operations({{"like", 20}, {"none", 0}, {"post", 10}}), operations({{"post", 15}}, "tap:b")},
      {"post"});
  EXPECT_EQ(found["collections"], json::parse(R"([
    {"collection":"post","operations":25,"per_second":2.5,"is_quiet":true},
    {"collection":"like","operations":20,"per_second":2.0,"is_quiet":false}])"));
}

TEST_F(ProcessStatusTest, has_the_quantiles_of_the_last_ten_seconds) {
  LatencyHistogram latency;
  const auto sample = [&] {
    return Metrics{metric("skua_commit_latency_seconds", latency.counts(), "relay:a"), events(1)};
  };
  for (int i = 0; i < 1'000; ++i) latency.add(1h);
  add(0s, sample());
  for (int i = 0; i < 98; ++i) latency.add(1ms);
  latency.add(1s);
  latency.add(1s);
  json found = page(10s, sample())["commit_latency_seconds"];
  EXPECT_NEAR(found["p50"].get<double>(), 0.001, 0.0003);
  EXPECT_NEAR(found["p99"].get<double>(), 1, 0.3);
  add(10s, sample());
  // Nothing was added since.
  found = page(20s, sample())["commit_latency_seconds"];
  EXPECT_TRUE(found["p50"].is_null());
}

TEST_F(ProcessStatusTest, has_texts_of_the_network_as_valid_json) {
  const json found = page(0s, {connected("relay:\"\n\xff", true)});
  EXPECT_EQ(found["sources"][0]["source"], "relay:\"\n\ufffd");
}

}  // namespace
}  // namespace skua::pages::process_status_test
