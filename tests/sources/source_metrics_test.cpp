#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/metric.hpp"
#include "sources/source.hpp"

namespace skua::sources::source_metrics_test {
namespace {

std::vector<std::string> keys_of(const nlohmann::json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

const std::vector<std::string> kCounts = {"frames",           "bytes",
                                          "commits",          "syncs",
                                          "identities",       "accounts",
                                          "labels",           "infos",
                                          "errors",           "unknown",
                                          "events",           "rows",
                                          "unchanged",        "transactions",
                                          "retries",          "dead_letters",
                                          "unforeseen",       "altered",
                                          "filtered",         "filtered_messages",
                                          "verified",         "broke",
                                          "former_keys",      "dead_letters_left_out",
                                          "stale_accounts",   "nuls_removed",
                                          "not_canonical",    "unsettled_accounts",
                                          "accounts_waiting", "frames_held",
                                          "handles_valid",    "handles_invalid",
                                          "handles_failed",   "reconnects",
                                          "skipped",          "restarts",
                                          "in_flight",        "merged_identities",
                                          "ignored_messages", "too_large"};

TEST(SourceMetrics, have_the_json_keys_that_people_rely_on) {
  pipeline::Metrics metrics = uncounted_metrics();
  metrics.add(pipeline::MetricScope::Source, values_of(ConnectionCounters()));
  std::vector<std::string> keys = kCounts;
  for (const char* key : {"started_at", "connected", "is_verified", "dropped", "commit_ms_p50",
                          "commit_ms_p99", "dispatch_ms_p50", "dispatch_ms_p99"}) {
    keys.emplace_back(key);
  }
  nlohmann::json json = nlohmann::json::parse(to_json(metrics));
  EXPECT_THAT(keys_of(json), testing::UnorderedElementsAreArray(keys));
  for (const std::string& key : kCounts) EXPECT_EQ(json[key], 0) << key;
  EXPECT_EQ(json["dropped"], nlohmann::json::object());

  metrics.role = pipeline::Metrics::Role::Active;
  metrics.cursor = 7;
  metrics.newest = metrics.committed = metrics.started_at;
  metrics.server_clock_ahead = std::chrono::microseconds(1'500'000);
  for (const char* key :
       {"role", "cursor", "newest", "committed", "lag_seconds", "server_clock_ahead_seconds"}) {
    keys.emplace_back(key);
  }
  json = nlohmann::json::parse(to_json(metrics));
  EXPECT_THAT(keys_of(json), testing::UnorderedElementsAreArray(keys));
  EXPECT_EQ(json["server_clock_ahead_seconds"], 1.5);
  EXPECT_EQ(json["connected"], false);
}

}  // namespace
}  // namespace skua::sources::source_metrics_test
