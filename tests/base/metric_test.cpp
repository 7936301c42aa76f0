#include "base/metric.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace skua::metric_test {
namespace {

struct Counted {
  Counter read{"read", "skua_read_total", "messages", "Messages that were read"};
  std::atomic<std::int64_t> newest{0};
  Gauge waiting{"waiting", "skua_waiting", "messages", "Messages that wait"};
  CounterFamily<2> dropped{
      "dropped",  "skua_dropped_total",
      "messages", "Messages that were dropped, by reason",
      "reason",   [](std::size_t index) { return index == 0 ? "late" : "bad"; }};
  std::string note = "no metric";
};

TEST(Metric, of_a_group_are_read_in_the_order_of_their_declarations) {
  Counted counted;
  counted.read += 3;
  counted.waiting += 2;
  counted.waiting -= 1;
  counted.dropped.at(1) += 4;
  const std::vector<MetricValue> values = values_of(counted);
  ASSERT_EQ(values.size(), 3U);
  EXPECT_STREQ(values[0].info.key, "read");
  EXPECT_STREQ(values[0].info.name, "skua_read_total");
  EXPECT_STREQ(values[0].info.unit, "messages");
  EXPECT_STREQ(values[0].info.help, "Messages that were read");
  EXPECT_EQ(values[0].kind, MetricKind::Counter);
  EXPECT_EQ(std::get<std::uint64_t>(values[0].value), 3U);
  EXPECT_EQ(values[1].kind, MetricKind::Gauge);
  EXPECT_EQ(std::get<std::uint64_t>(values[1].value), 1U);
  EXPECT_STREQ(values[2].info.label, "reason");
  EXPECT_EQ(std::get<CountsByLabel>(values[2].value), (CountsByLabel{{"late", 0}, {"bad", 4}}));
}

TEST(Metric, takes_a_count_and_keeps_its_declaration) {
  Counted one;
  Counter other{"other", "skua_other_total", "", "Something else"};
  other += 7;
  one.read = other;
  EXPECT_EQ(one.read, 7U);
  EXPECT_STREQ(one.read.read().info.key, "read");
  one.read = 9;
  EXPECT_EQ(one.read, 9U);
  const Counter copy = one.read;
  EXPECT_EQ(copy, 9U);
  EXPECT_STREQ(copy.read().info.key, "read");
}

TEST(Metric, counts_what_several_threads_count) {
  constexpr std::uint64_t kEach = 20'000;
  Counted counted;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (std::uint64_t k = 0; k < kEach; ++k) {
          counted.read += 1;
          counted.waiting += 2;
          counted.waiting -= 1;
          counted.dropped.at(0) += 1;
        }
      });
    }
  }
  EXPECT_EQ(counted.read, 4 * kEach);
  EXPECT_EQ(counted.waiting, 4 * kEach);
  EXPECT_EQ(counted.dropped[0], 4 * kEach);
}

}  // namespace
}  // namespace skua::metric_test
