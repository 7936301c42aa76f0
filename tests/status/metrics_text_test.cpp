#include "status/metrics_text.hpp"

#include <chrono>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "status/line_layout.hpp"
#include "status/made_metrics.hpp"

namespace skua::status::metrics_text_test {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;

const Timestamp kNow{1'783'175'898s};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Rates rates() {
  Rates rates;
  rates.at = kNow;
  rates.events = 812;
  rates.rows = 790;
  return rates;
}

pipeline::Metrics source(const std::string& name,
                         pipeline::Metrics::Role role = pipeline::Metrics::Role::Alone) {
  pipeline::Metrics metrics = test::made_metrics();
  metrics.source = name;
  metrics.role = role;
  metrics.at = kNow;
  metrics.connected = true;
  metrics.cursor = 12345;
  metrics.newest = kNow - 1s;
  metrics.committed = kNow - 1s;
  metrics.waiting = 1;
  return metrics;
}

LatencyHistogram::Counts latencies(std::chrono::milliseconds fast, std::chrono::milliseconds slow) {
  LatencyHistogram histogram;
  for (int i = 0; i < 90; ++i) histogram.add(fast);
  for (int i = 0; i < 10; ++i) histogram.add(slow);
  return histogram.counts();
}

TEST(MetricsText, says_how_much_was_done_and_how_far_behind_it_is) {
  Rates now = rates();
  now.latency = latencies(9ms, 30ms);
  EXPECT_EQ(metrics_text(now, {source("relay:a.example")}, std::nullopt),
            "14:38:18  812 events/s  790 rows/s  lag 1.0 s  p50/p99 10/33 ms  cursor 12345");
}

TEST(MetricsText, goes_on_in_a_second_line_before_it_is_too_long) {
  Rates now = rates();
  now.latency = latencies(9ms, 30ms);
  now.disk_bytes = 6'830'000;
  pipeline::Metrics one = source("relay:a.example");
  test::count_of(one, "dead_letters") = 2;
  test::count_of(one, "accounts_waiting") = 31;
  EXPECT_EQ(metrics_text(now, {one}, std::nullopt),
            "14:38:18  812 events/s  790 rows/s  lag 1.0 s  p50/p99 10/33 ms  cursor 12345\n"
            "          disk +6.8 MB/min  31 await keys  2 dead letters");
}

TEST(MetricsText, says_what_is_not_known) {
  pipeline::Metrics one = source("relay:a.example");
  one.newest.reset();
  one.cursor.reset();
  Rates now = rates();
  now.events = 0;
  now.rows = 0.25;
  EXPECT_EQ(metrics_text(now, {one}, std::nullopt),
            "14:38:18  0 events/s  0.2 rows/s  lag -  cursor -");
  one.connected = false;
  EXPECT_EQ(metrics_text(now, {one}, std::nullopt),
            "14:38:18  0 events/s  0.2 rows/s  not connected  cursor -");
}

TEST(MetricsText, says_that_the_database_is_down_and_since_when) {
  Rates now = rates();
  now.latency = latencies(9ms, 30ms);
  now.disk_bytes = -80e6;
  pipeline::Metrics one = source("relay:a.example");
  one.committed = kNow - 12s;
  EXPECT_EQ(metrics_text(now, {one}, postgres::Outage{kNow - 12s, "refused"}),
            "14:38:18  database down since 14:38:06 (12 s)  lag 12.0 s  cursor 12345");
  EXPECT_THAT(metrics_text(now, {one}, postgres::Outage{kNow - 3h, "refused"}),
              HasSubstr("database down since 11:38:18 (3 h 0 min)"));
  EXPECT_THAT(metrics_text(now, {one}, postgres::Outage{kNow + 5s, "the clock was set back"}),
              HasSubstr("(0 s)"));
}

TEST(MetricsText, gives_each_of_several_sources_a_line) {
  pipeline::Metrics standby = source("relay:b.example", pipeline::Metrics::Role::Standby);
  standby.cursor = 700;
  pipeline::Metrics tap = source("tap:localhost");
  tap.connected = false;
  tap.cursor.reset();
  EXPECT_EQ(metrics_text(rates(),
                         {source("relay:a.example", pipeline::Metrics::Role::Active), standby, tap},
                         std::nullopt),
            "14:38:18  812 events/s  790 rows/s\n"
            "          relay:a.example active  lag 1.0 s  cursor 12345\n"
            "          relay:b.example standby  cursor 700\n"
            "          tap:localhost  not connected  cursor -");
}

TEST(MetricsText, has_a_line_with_the_codes_of_problems) {
  EXPECT_EQ(metrics_text(rates(), {source("relay:a.example")}, std::nullopt,
                         {"source-behind", "dead-letters"}),
            "14:38:18  812 events/s  790 rows/s  lag 1.0 s  cursor 12345\n"
            "          problems: source-behind  dead-letters");
}

TEST(MetricsText, says_nothing_of_the_lag_of_a_capture) {
  pipeline::Metrics capture = source("capture:some.frames");
  capture.is_live = false;
  EXPECT_EQ(metrics_text(rates(), {capture}, std::nullopt),
            "14:38:18  812 events/s  790 rows/s  cursor 12345");
}

TEST(MetricsText, tells_shrinking_and_large_growth_in_fitting_units) {
  Rates now = rates();
  const auto text = [&](double bytes) {
    now.disk_bytes = bytes;
    return metrics_text(now, {source("relay:a.example")}, std::nullopt);
  };
  EXPECT_THAT(text(-1.26e6), HasSubstr("disk -1.3 MB/min"));
  EXPECT_THAT(text(-20'000), HasSubstr("disk +0.0 MB/min"));
  EXPECT_THAT(text(1.24e9), HasSubstr("disk +1.2 GB/min"));
}

TEST(MetricsText, is_never_wider_than_eighty_columns) {
  Rates now = rates();
  now.events = now.rows = 123'456;
  now.latency = latencies(1h, 1h);
  now.disk_bytes = -123e9;
  pipeline::Metrics one = source("relay:" + std::string(200, 'x'), pipeline::Metrics::Role::Active);
  one.committed = kNow - 24h * 400;
  one.cursor = std::numeric_limits<std::int64_t>::max();
  for (const char* key : {"accounts_waiting", "dead_letters"}) {
    test::count_of(one, key) = std::numeric_limits<std::uint64_t>::max();
  }
  for (const auto& sources : {std::vector{one}, std::vector{one, one, one}}) {
    for (const auto& outage : {std::optional<postgres::Outage>(),
                               std::optional(postgres::Outage{kNow - 24h * 400, ""})}) {
      const auto lines = lines_of(metrics_text(now, sources, outage));
      EXPECT_GE(lines.size(), sources.size());
      EXPECT_THAT(lines, Each(SizeIs(testing::Le(80U))));
    }
  }
}

TEST(LaidOut, breaks_between_parts_only) {
  EXPECT_EQ(laid_out({"one", "two", "three"}, 20), "one  two  three");
  EXPECT_EQ(laid_out({"12:00:00", "word", "eight888", "9"}, 20),
            "12:00:00  word\n          eight888\n          9");
  EXPECT_EQ(laid_out({}, 20), "");
}

TEST(LaidOut, counts_characters_and_cuts_parts_that_are_longer_than_a_line) {
  EXPECT_EQ(laid_out({"äöü", "äöü", "äöü"}, 15), "äöü  äöü  äöü");
  EXPECT_EQ(indented({"0123456789012345"}, 20), "          0123456789");
  EXPECT_EQ(laid_out({"a\x1b[2J"}, 20), "a?[2J");
}

}  // namespace
}  // namespace skua::status::metrics_text_test
