#include "top/samples.hpp"

#include <string>

#include <gtest/gtest.h>

#include "top/history.hpp"

namespace skua::top::samples_test {
namespace {

using namespace std::chrono_literals;
using TimePoint = std::chrono::steady_clock::time_point;

constexpr TimePoint kStart{1'000s};

Reading reading(std::chrono::milliseconds at, const std::string& text) {
  return {kStart + at, Samples::parse(text)};
}

TEST(Samples, are_read_with_their_labels) {
  const Samples samples = Samples::parse(
      "# HELP skua_cursor Position\n# TYPE skua_cursor gauge\n"
      "skua_cursor{source=\"relay:a\"} 12\n"
      "skua_cursor{source=\"relay:\\\"b\\\\\\n\",role=\"active\"} 1.5e3\n"
      "skua_rows_total 7\n");
  EXPECT_EQ(samples.size(), 3U);
  EXPECT_EQ(samples.total("skua_cursor"), 1512.0);
  EXPECT_EQ(samples.total("skua_cursor", {{"source", "relay:a"}}), 12.0);
  EXPECT_EQ(samples.total("skua_cursor", {{"source", "other"}}), std::nullopt);
  EXPECT_EQ(samples.total("unknown"), std::nullopt);
  EXPECT_EQ(samples.values("skua_cursor", "source"),
            (std::vector<std::string>{"relay:a", "relay:\"b\\\n"}));
  EXPECT_EQ(*samples.find("skua_rows_total", {}), 7.0);
}

class MalformedLine : public testing::TestWithParam<const char*> {};

TEST_P(MalformedLine, is_left_out) {
  const std::string text = std::string("a 1\n") + GetParam() + "\nb 2";
  const Samples samples = Samples::parse(text);
  EXPECT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples.total("a"), 1.0);
  EXPECT_EQ(samples.total("b"), 2.0);
}

INSTANTIATE_TEST_SUITE_P(Lines, MalformedLine,
                         testing::Values("", "# a 5", "a", "a ", "c x", "c NaN", "c +Inf",
                                         "c 1e999", "c 1 2", "c{", "c{}", "c{x} 1", "c{x=1} 1",
                                         "c{x=\"1} 1", "c{x=\"\\\"} 1", "c{x=\"1\"}1",
                                         "c{x=\"1\",} 1", "{x=\"1\"} 1", "a 9", "\x1b[2J 1",
                                         "c\t1"));

TEST(Samples, are_bounded) {
  std::string text;
  for (std::size_t i = 0; i < Samples::kMost + 10; ++i) {
    text += "a{x=\"" + std::to_string(i) + "\"} 1\n";
  }
  EXPECT_EQ(Samples::parse(text).size(), Samples::kMost);
  std::string labels = "b{";
  for (int i = 0; i < 100; ++i) labels += "x" + std::to_string(i) + "=\"\",";
  EXPECT_EQ(Samples::parse(labels + "y=\"\"} 1").size(), 0U);
}

TEST(Rate, is_the_growth_of_what_both_readings_have) {
  const Reading before = reading(0s, "a_total{x=\"1\"} 10\na_total{x=\"2\"} 5\n");
  const Reading now =
      reading(10s, "a_total{x=\"1\"} 30\na_total{x=\"2\"} 5\na_total{x=\"3\"} 900\n");
  EXPECT_EQ(rate(&before, now, "a_total"), 2.0);
  EXPECT_EQ(rate(&before, now, "a_total", {{"x", "2"}}), 0.0);
  EXPECT_EQ(rate(&before, now, "a_total", {{"x", "3"}}), std::nullopt);
  EXPECT_EQ(rate(&before, now, "b_total"), std::nullopt);
  EXPECT_EQ(rate(nullptr, now, "a_total"), std::nullopt);
  EXPECT_EQ(rate(&now, now, "a_total"), std::nullopt);
  EXPECT_EQ(rate(&before, reading(5s, "a_total{x=\"1\"} 9\n"), "a_total"), std::nullopt);
}

TEST(Quantile, is_that_of_what_was_added) {
  const auto histogram = [](int small, int medium, int all) {
    return "h_bucket{le=\"0.1\"} " + std::to_string(small) + "\nh_bucket{le=\"0.2\"} " +
           std::to_string(medium) + "\nh_bucket{le=\"+Inf\"} " + std::to_string(all) + "\n";
  };
  const Reading before = reading(0s, histogram(100, 100, 100));
  const Reading now = reading(10s, histogram(100, 200, 200));
  EXPECT_NEAR(quantile(&before, now, "h", 0.5).value(), 0.15, 1e-9);
  EXPECT_NEAR(quantile(nullptr, now, "h", 0.5).value(), 0.1, 1e-9);
  EXPECT_EQ(quantile(&now, now, "h", 0.5), std::nullopt);
  // Beyond the last bound nothing is known.
  EXPECT_EQ(quantile(&before, reading(10s, histogram(100, 100, 200)), "h", 0.5), 0.2);
  EXPECT_EQ(quantile(nullptr, reading(0s, "h_bucket{le=\"x\"} 5\n"), "h", 0.5), std::nullopt);
}

TEST(History, keeps_a_minute_and_few_readings) {
  History history;
  EXPECT_EQ(history.now(), nullptr);
  for (int i = 0; i <= 600; ++i) {
    history.add(reading(i * 1s, "a_total " + std::to_string(i)));
    if (i >= 70) {
      const auto minute = history.now()->at - history.before(60'500ms)->at;
      EXPECT_GE(minute, 57s);
      EXPECT_LE(minute, 60'500ms);
      const auto ten = history.now()->at - history.before(10'500ms)->at;
      EXPECT_GE(ten, 8s);
      EXPECT_LE(ten, 10'500ms);
      EXPECT_DOUBLE_EQ(*rate(history.before(10'500ms), *history.now(), "a_total"), 1.0);
    }
  }
}

TEST(History, of_rare_readings_has_the_one_before) {
  History history;
  history.add(reading(0s, "a_total 1"));
  EXPECT_EQ(history.before(10s), nullptr);
  history.add(reading(300s, "a_total 301"));
  ASSERT_NE(history.before(10s), nullptr);
  EXPECT_EQ(rate(history.before(10s), *history.now(), "a_total"), 1.0);
}

TEST(History, begins_again_when_a_counter_falls) {
  History history;
  history.add(reading(0s, "a_total 100\ngauge 5\n"));
  history.add(reading(2s, "a_total 200\ngauge 1\n"));
  EXPECT_EQ(rate(history.before(10s), *history.now(), "a_total"), 50.0);
  history.add(reading(4s, "a_total 3\n"));
  EXPECT_EQ(history.before(10s), nullptr);
  history.add(reading(6s, "a_total 5\n"));
  EXPECT_EQ(rate(history.before(10s), *history.now(), "a_total"), 1.0);
}

}  // namespace
}  // namespace skua::top::samples_test
