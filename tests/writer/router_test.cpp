#include "writer/router.hpp"

#include <array>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace skua::writer::router_test {
namespace {

using event::EventSource;
using event::Lane;
using records::RecordType;

TEST(Router, has_thirty_workers_in_ten_lanes) {
  std::set<std::size_t> workers;
  for (const auto source : {EventSource::Live, EventSource::Backfill}) {
    for (const auto type : records::kRecordTypes) {
      std::set<std::size_t> of_lane;
      for (int i = 0; i < 200; ++i) {
        const std::size_t worker = worker_index(Lane{source, type}, "did:plc:" + std::to_string(i));
        of_lane.insert(worker);
        EXPECT_TRUE(workers.insert(worker).second || of_lane.contains(worker));
      }
      EXPECT_EQ(of_lane.size(), kWorkersPerLane);
    }
  }
  EXPECT_EQ(workers.size(), kWorkers);
  EXPECT_EQ(*workers.rbegin(), kWorkers - 1);
}

TEST(Router, path_hash_is_fixed) {
  // FNV-1a of "a" and of nothing, high half folded in.
  EXPECT_EQ(path_hash("a"), 0xaf63dc4c8601ec8cULL ^ (0xaf63dc4c8601ec8cULL >> 32));
  EXPECT_EQ(path_hash(""), 0xcbf29ce484222325ULL ^ (0xcbf29ce484222325ULL >> 32));
}

TEST(Router, spreads_accounts_evenly) {
  std::array<int, kWorkersPerLane> counts{};
  const Lane lane{EventSource::Live, RecordType::Like};
  for (int i = 0; i < 30'000; ++i) {
    ++counts[worker_index(lane, "did:plc:account" + std::to_string(i)) % kWorkersPerLane];
  }
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

}  // namespace
}  // namespace skua::writer::router_test
