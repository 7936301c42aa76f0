#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/metric.hpp"
#include "status/made_metrics.hpp"
#include "status/metrics_text.hpp"

namespace skua::status::prometheus_text_test {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

LabelledMetric metric(const char* name, MetricValue::Value value,
                      MetricKind kind = MetricKind::Gauge, const char* help = "Help",
                      const char* label = "") {
  return {{{"key", name, "", help, label}, kind, std::move(value)}, {}};
}

TEST(PrometheusText, of_nothing_is_empty) {
  EXPECT_EQ(prometheus_text({}), "");
}

TEST(PrometheusText, has_help_type_and_value_of_each_metric) {
  EXPECT_EQ(prometheus_text({metric("skua_a_total", std::numeric_limits<std::uint64_t>::max(),
                                    MetricKind::Counter, "Things that were done"),
                             metric("skua_b", true), metric("skua_c_seconds", 0.25),
                             metric("skua_d", std::int64_t{-7}),
                             metric("skua_e_time_seconds",
                                    MetricValue::Value(Timestamp(1'783'175'898'085'434us)))}),
            "# HELP skua_a_total Things that were done\n"
            "# TYPE skua_a_total counter\n"
            "skua_a_total 18446744073709551615\n"
            "# HELP skua_b Help\n"
            "# TYPE skua_b gauge\n"
            "skua_b 1\n"
            "# HELP skua_c_seconds Help\n"
            "# TYPE skua_c_seconds gauge\n"
            "skua_c_seconds 0.25\n"
            "# HELP skua_d Help\n"
            "# TYPE skua_d gauge\n"
            "skua_d -7\n"
            "# HELP skua_e_time_seconds Help\n"
            "# TYPE skua_e_time_seconds gauge\n"
            "skua_e_time_seconds 1783175898.085434\n");
}

TEST(PrometheusText, escapes_help_and_label_values) {
  LabelledMetric odd = metric("skua_odd", std::uint64_t{1}, MetricKind::Gauge, "A \\ \"b\"\nc");
  odd.labels = {{"source", "a\\b\"c\nd"}, {"other", "caf\u00e9"}};
  EXPECT_EQ(prometheus_text({odd}),
            "# HELP skua_odd A \\\\ \"b\"\\nc\n"
            "# TYPE skua_odd gauge\n"
            "skua_odd{source=\"a\\\\b\\\"c\\nd\",other=\"caf\u00e9\"} 1\n");
}

TEST(PrometheusText, joins_the_values_of_one_name) {
  LabelledMetric a = metric("skua_a", std::uint64_t{1});
  a.labels = {{"source", "x"}};
  LabelledMetric other = a;
  other.metric.value = std::uint64_t{2};
  other.labels = {{"source", "y"}};
  const std::string text = prometheus_text({a, metric("skua_b", std::uint64_t{3}), other});
  EXPECT_THAT(text, StartsWith("# HELP skua_a Help\n# TYPE skua_a gauge\n"
                               "skua_a{source=\"x\"} 1\nskua_a{source=\"y\"} 2\n# HELP skua_b"));
}

TEST(PrometheusText, has_a_label_for_a_family_and_for_a_text) {
  LabelledMetric family = metric("skua_f_total", CountsByLabel{{"late", 0}, {"bad", 4}},
                                 MetricKind::Counter, "Help", "reason");
  family.labels = {{"source", "x"}};
  EXPECT_THAT(prometheus_text({family}), EndsWith("skua_f_total{source=\"x\",reason=\"late\"} 0\n"
                                                  "skua_f_total{source=\"x\",reason=\"bad\"} 4\n"));
  EXPECT_THAT(prometheus_text(
                  {metric("skua_role", std::string("active"), MetricKind::Gauge, "Help", "role")}),
              EndsWith("skua_role{role=\"active\"} 1\n"));
}

TEST(PrometheusText, has_the_buckets_of_a_histogram_as_sums_from_the_start) {
  LatencyHistogram histogram;
  histogram.add(3us);
  histogram.add(10ms);
  histogram.add(10ms);
  histogram.add(3h);
  LabelledMetric latency =
      metric("skua_latency_seconds", histogram.counts(), MetricKind::Histogram);
  latency.labels = {{"source", "x"}};
  const std::string text = prometheus_text({latency});
  EXPECT_THAT(text, HasSubstr("# TYPE skua_latency_seconds histogram\n"
                              "skua_latency_seconds_bucket{source=\"x\",le=\"1e-06\"} 0\n"
                              "skua_latency_seconds_bucket{source=\"x\",le=\"3e-06\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{source=\"x\",le=\"0.008191\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{source=\"x\",le=\"0.012287\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{source=\"x\",le=\"6442.450943\"} 3\n"
                              "skua_latency_seconds_bucket{source=\"x\",le=\"+Inf\"} 4\n"
                              "skua_latency_seconds_sum{source=\"x\"} "));
  EXPECT_THAT(text, EndsWith("\nskua_latency_seconds_count{source=\"x\"} 4\n"));
}

TEST(PrometheusText, estimates_the_sum_of_a_histogram_within_13_percent) {
  for (const auto duration : {1us, 4us, 999us, 1'000us, 123'456us, 9'999'999us}) {
    LatencyHistogram histogram;
    for (int i = 0; i < 10; ++i) histogram.add(duration);
    const std::string text =
        prometheus_text({metric("skua_l", histogram.counts(), MetricKind::Histogram)});
    const std::size_t at = text.find("skua_l_sum ") + std::string_view("skua_l_sum ").size();
    const double exact = std::chrono::duration<double>(10 * duration).count();
    EXPECT_NEAR(std::stod(text.substr(at)), exact, 0.13 * exact) << duration.count();
  }
}

pipeline::Metrics source(const std::string& name,
                         pipeline::Metrics::Role role = pipeline::Metrics::Role::Alone) {
  pipeline::Metrics metrics = test::made_metrics();
  metrics.source = name;
  metrics.role = role;
  metrics.connected = true;
  metrics.cursor = 12345;
  test::count_of(metrics, "frames") = 5;
  test::count_of(metrics, "events") = 8;
  return metrics;
}

TEST(LabelledMetrics, of_a_source_have_its_name) {
  const std::string text = prometheus_text(labelled({source("relay:a.example"), source("tap:b")}));
  EXPECT_THAT(text, HasSubstr("skua_messages_total{source=\"relay:a.example\"} 5\n"
                              "skua_messages_total{source=\"tap:b\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("skua_cursor{source=\"tap:b\"} 12345\n"));
  EXPECT_THAT(text, HasSubstr("skua_dropped_total{source=\"tap:b\",reason=\"old_rev\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("skua_role")));
}

TEST(LabelledMetrics, of_the_process_appear_once) {
  const std::string text = prometheus_text(labelled({source("relay:a.example"), source("tap:b")}));
  EXPECT_THAT(text, HasSubstr("# TYPE skua_events_total counter\nskua_events_total 8\n# HELP"));
}

TEST(LabelledMetrics, of_a_relay_that_stands_by_are_its_own_only) {
  pipeline::Metrics standby = source("relay:b.example", pipeline::Metrics::Role::Standby);
  standby.connected = false;
  const std::string text = prometheus_text(
      labelled({standby, source("relay:a.example", pipeline::Metrics::Role::Active)}));
  EXPECT_THAT(text, HasSubstr("# TYPE skua_role gauge\n"
                              "skua_role{source=\"relay:b.example\",role=\"standby\"} 1\n"
                              "skua_role{source=\"relay:a.example\",role=\"active\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("skua_connected{source=\"relay:b.example\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE skua_messages_total counter\n"
                              "skua_messages_total{source=\"relay:a.example\"} 5\n# HELP"));
  EXPECT_THAT(text, HasSubstr("# TYPE skua_events_total counter\nskua_events_total 8\n# HELP"));
}

TEST(LabelledMetrics, of_a_backfill_have_its_counts_and_rates) {
  backfill::BackfillMetrics metrics;
  metrics.repositories = 12;
  metrics.in_hand = 3;
  metrics.discovery.under_way = 2;
  const std::string text = prometheus_text(labelled(metrics, {.records = 2.5}));
  EXPECT_THAT(text, HasSubstr("# TYPE skua_backfill_repositories_total counter\n"
                              "skua_backfill_repositories_total 12\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE skua_backfill_active_jobs gauge\n"
                              "skua_backfill_active_jobs 3\n"));
  EXPECT_THAT(text, HasSubstr("skua_backfill_active_lists 2\n"));
  EXPECT_THAT(text, HasSubstr("skua_backfill_records_per_second 2.5\n"));
}

}  // namespace
}  // namespace skua::status::prometheus_text_test
