#include "app/metric_registry.hpp"

#include <set>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skua::app::metric_registry_test {
namespace {

using testing::EndsWith;
using testing::MatchesRegex;
using testing::Not;

TEST(MetricRegistry, each_name_is_declared_once) {
  std::set<std::string> names;
  for (const auto& metric : metric_registry()) {
    EXPECT_TRUE(names.insert(metric.info.name).second) << metric.info.name;
  }
  EXPECT_GT(names.size(), 70U);
}

TEST(MetricRegistry, each_key_is_declared_once_for_sources_and_once_for_backfills) {
  std::set<std::string> keys;
  for (const auto& metric : metric_registry()) {
    const std::string key = metric.info.key;
    const bool is_backfill = std::string_view(metric.info.name).starts_with("skua_backfill_");
    EXPECT_TRUE(key.empty() || keys.insert((is_backfill ? "backfill " : "") + key).second) << key;
  }
}

TEST(MetricRegistry, names_follow_the_conventions_of_prometheus) {
  for (const auto& metric : metric_registry()) {
    const std::string name = metric.info.name;
    EXPECT_THAT(name, MatchesRegex("skua_[a-z0-9_]+"));
    if (metric.kind == MetricKind::Counter) {
      EXPECT_THAT(name, EndsWith("_total"));
    } else {
      EXPECT_THAT(name, Not(EndsWith("_total")));
    }
    const std::string_view unit = metric.info.unit;
    const std::string stem = name.substr(0, name.rfind("_total"));
    if (unit == "seconds" || unit == "bytes") {
      EXPECT_THAT(stem, EndsWith("_" + std::string(unit)));
    }
  }
}

TEST(MetricRegistry, each_metric_has_one_sentence_of_help) {
  for (const auto& metric : metric_registry()) {
    EXPECT_THAT(metric.info.help, MatchesRegex("[A-Z#].*[^.]")) << metric.info.name;
    EXPECT_THAT(metric.info.help, Not(testing::HasSubstr("|"))) << metric.info.name;
  }
}

}  // namespace
}  // namespace skua::app::metric_registry_test
