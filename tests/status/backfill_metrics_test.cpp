#include "status/backfill_metrics.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skua::status::backfill_metrics_test {
namespace {

TEST(BackfillMetricsJson, has_the_keys_that_people_rely_on) {
  backfill::BackfillMetrics metrics;
  metrics.repositories = 3;
  metrics.discovery.inactive = 4;
  metrics.hosts.resize(1);
  const nlohmann::json json = to_json(metrics, {.bytes = 1.5}, "skua run 1");
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_THAT(
      keys, testing::UnorderedElementsAre(
                "lease_owner", "repositories", "records", "rows", "removed", "bytes", "failed",
                "abandoned", "unavailable", "postponed", "dead_letters", "transactions", "in_hand",
                "repositories_per_second", "records_per_second", "bytes_per_second", "pages",
                "accounts", "accounts_inactive", "accounts_foreign", "hosts_listed",
                "entries_refused", "entries_surplus", "accounts_current", "pages_failed",
                "pages_postponed", "lists_under_way", "hosts"));
  EXPECT_EQ(json["lease_owner"], "skua run 1");
  EXPECT_EQ(json["repositories"], 3);
  EXPECT_EQ(json["accounts_inactive"], 4);
  EXPECT_EQ(json["bytes_per_second"], 1.5);
  EXPECT_EQ(json["hosts"].size(), 1U);
}

}  // namespace
}  // namespace skua::status::backfill_metrics_test
