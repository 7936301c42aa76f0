#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backfill/discovery/list_table.hpp"
#include "backfill/discovery/lists_of_hosts.hpp"
#include "support/postgres.hpp"

namespace skua::backfill::list_counts_test {
namespace {

using testing::ElementsAre;
using testing::Pair;

const HostList kA{"https://a.test"};
const HostList kB{"https://b.test"};
const HostList kHosts{"https://relay.test", kListOfHosts};

class ListCountsTest : public test::ListsOfHosts {};

TEST_F(ListCountsTest, lists_are_counted_by_kind) {
  EXPECT_TRUE(list_counts(session()).empty());
  add({kA, kB, {"https://c.test"}, kHosts});
  lease_next();
  save(kA, std::nullopt, 5);
  save(kB, "page 2", 10);
  save(kHosts, std::nullopt, 3);
  const auto counts = list_counts(session());
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts.at(kListOfHosts).listed, 3);
  EXPECT_EQ(counts.at(kListOfRepos).listed, 15);
  EXPECT_THAT(counts.at(kListOfRepos).lists,
              ElementsAre(Pair(ListState::Listing, 2), Pair(ListState::Listed, 1)));
}

}  // namespace
}  // namespace skua::backfill::list_counts_test
