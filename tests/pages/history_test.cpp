#include "pages/history.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skua::pages::history_test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using status::LabelledMetric;

constexpr MetricInfo kEvents{"", "skua_made_total", "events", "Made"};
constexpr MetricInfo kQueued{"", "skua_queued", "events", "Made"};
constexpr MetricInfo kLag{"", "skua_lag_seconds", "seconds", "Made"};
constexpr MetricInfo kLatency{"", "skua_latency_seconds", "seconds", "Made"};
constexpr MetricInfo kRole{"", "skua_role", "none", "Made", "role"};

LabelledMetric counter(std::uint64_t value, const std::string& source = "a") {
  return {{kEvents, MetricKind::Counter, value}, {{"source", source}}};
}
LabelledMetric gauge(const MetricInfo& info, double value, const std::string& source = "a") {
  return {{info, MetricKind::Gauge, value}, {{"source", source}}};
}

class HistoryTest : public testing::Test {
 protected:
  void add(const std::vector<LabelledMetric>& metrics) {
    history_.add(metrics, now_);
    now_ += History::kInterval;
  }
  json points(const std::string& metric, const std::string& what) {
    return json::parse(history_.json({metric}))["metrics"][metric][what];
  }

  Timestamp now_{1'000s};
  History history_;
};

TEST_F(HistoryTest, a_counter_has_its_growth_per_second_over_all_labels) {
  add({counter(100), counter(7, "b")});
  add({counter(110), counter(22, "b")});
  add({counter(110), counter(22, "b")});
  EXPECT_EQ(points("skua_made_total", "per_second"), json::parse("[null,5.0,0.0]"));
}

TEST_F(HistoryTest, a_counter_that_fell_or_was_missing_has_no_growth) {
  add({counter(100)});
  add({counter(90)});
  add({counter(100)});
  add({});
  add({counter(100)});
  add({counter(105)});
  EXPECT_EQ(points("skua_made_total", "per_second"), json::parse("[null,null,2.0,null,null,1.0]"));
}

TEST_F(HistoryTest, a_gauge_has_its_sum_and_a_time_its_largest_value) {
  add({gauge(kQueued, 3), gauge(kQueued, 4, "b"), gauge(kLag, 0.25), gauge(kLag, 61, "b")});
  EXPECT_EQ(points("skua_queued", "value"), json::parse("[7.0]"));
  EXPECT_EQ(points("skua_lag_seconds", "value"), json::parse("[61.0]"));
}

TEST_F(HistoryTest, a_histogram_has_the_quantiles_of_what_was_added) {
  LatencyHistogram latency;
  latency.add(10s);
  const auto metric = [&] {
    return LabelledMetric{{kLatency, MetricKind::Histogram, latency.counts()}};
  };
  add({metric()});
  for (int i = 0; i < 98; ++i) latency.add(1ms);
  latency.add(1s);
  latency.add(1s);
  add({metric()});
  add({metric()});
  const json p50 = points("skua_latency_seconds", "p50");
  const json p99 = points("skua_latency_seconds", "p99");
  EXPECT_NEAR(p50[1].get<double>(), 0.001, 0.0003);
  EXPECT_NEAR(p99[1].get<double>(), 1, 0.3);
  // Nothing was counted before, and nothing after it.
  EXPECT_TRUE(p50[0].is_null() && p50[2].is_null() && p99[2].is_null());
}

TEST_F(HistoryTest, forgets_what_is_older_than_an_hour) {
  for (std::size_t i = 0; i < History::kSamples + 3; ++i) {
    add({gauge(kQueued, static_cast<double>(i))});
  }
  const json all = json::parse(history_.json({}));
  EXPECT_EQ(all["interval_seconds"], 5);
  ASSERT_EQ(all["times"].size(), History::kSamples);
  EXPECT_EQ(all["times"].front(), 1'000 + 3 * 5);
  const json& values = all["metrics"]["skua_queued"]["value"];
  ASSERT_EQ(values.size(), History::kSamples);
  EXPECT_EQ(values.front(), 3.0);
  EXPECT_EQ(values.back(), History::kSamples + 2);
}

TEST_F(HistoryTest, a_metric_that_appears_later_is_not_known_before) {
  add({});
  add({gauge(kQueued, 1)});
  EXPECT_EQ(points("skua_queued", "value"), json::parse("[null,1.0]"));
}

TEST_F(HistoryTest, lists_the_metrics_that_are_asked_for) {
  add({gauge(kQueued, 1), gauge(kLag, 1e10), {{kRole, MetricKind::Gauge, std::string("active")}}});
  EXPECT_EQ(json::parse(history_.json({"skua_queued", "nothing"}))["metrics"].size(), 1U);
  // A text has no course.
  EXPECT_EQ(json::parse(history_.json({}))["metrics"].size(), 2U);
  EXPECT_EQ(points("skua_lag_seconds", "value"), json::parse("[1e10]"));
}

TEST_F(HistoryTest, is_empty_before_the_first_sample) {
  EXPECT_EQ(json::parse(history_.json({})),
            json::parse(R"({"interval_seconds":5,"times":[],"metrics":{}})"));
}

}  // namespace
}  // namespace skua::pages::history_test
