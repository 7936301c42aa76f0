#include "backfill/discovery/host_table.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backfill/discovery/lists_of_hosts.hpp"
#include "support/postgres.hpp"

namespace skua::backfill::host_table_test {
namespace {

using namespace std::chrono_literals;
using test::kListOwner;
using testing::ElementsAre;
using testing::IsEmpty;

const HostList kA{"https://a.test"};
const HostList kB{"https://b.test"};
const HostList kHosts{"https://relay.test", kListOfHosts};

class HostTableTest : public test::ListsOfHosts {};

TEST_F(HostTableTest, lists_that_a_list_of_hosts_names_are_read_once_each_time_it_is_read) {
  const HostList kC{"https://c.test"};
  const auto add_named = [&](Timestamp since) {
    return add_named_lists(session(), std::vector{kA, kB, kC}, since, clock_.now());
  };
  add({kHosts});
  const Timestamp first = lease_next().front().begun_at;
  EXPECT_EQ(first, clock_.now());
  clock_.advance(1s);
  EXPECT_EQ(add_named(first), 3U);
  lease_next();
  save(kA, std::nullopt);
  fail(kB, 0s, 1);
  save(kC, "page 2");
  EXPECT_EQ(add_named(first), 0U) << "on another page of the same list";
  save(kHosts, std::nullopt);
  clock_.advance(1h);
  add({kHosts});
  const Timestamp second = clock_.now();
  for (const LeasedList& each : lease_next()) {
    EXPECT_EQ(each.begun_at == second, each.list == kHosts) << each.list.host;
  }
  EXPECT_EQ(add_named(second), 2U) << "the third is still being read";
  EXPECT_EQ(column(kA, "state || listed"), "none0");
  EXPECT_EQ(column(kB, "state"), "none");
  EXPECT_EQ(column(kC, "state || cursor"), "listingpage 2");
  EXPECT_EQ(add_named(second), 0U);
}

TEST_F(HostTableTest, what_is_announced_of_a_host_is_kept_and_replaced) {
  const HostList announced{.host = "https://a.test", .announced = 12};
  add({kB, announced});
  auto lists = lease_next();
  std::sort(lists.begin(), lists.end(),
            [](const auto& a, const auto& b) { return a.list.host < b.list.host; });
  ASSERT_EQ(lists.size(), 2U);
  EXPECT_EQ(lists[0].list, announced);
  EXPECT_EQ(lists[1].list.announced, std::nullopt);
  add({kA, {.host = "https://b.test", .announced = 7}}, Again::No);
  EXPECT_EQ(column(kA, "announced"), "12") << "who says nothing takes nothing back";
  EXPECT_EQ(column(kB, "announced"), "7");
}

TEST(MostEntries, follows_from_what_is_announced) {
  EXPECT_EQ(most_entries({.host = "a", .announced = 5'000}), 50'000);
  EXPECT_EQ(most_entries({.host = "a", .announced = 1}), 1'000);
  EXPECT_EQ(most_entries({.host = "a", .announced = -1}), 1'000);
  EXPECT_EQ(most_entries({.host = "a"}), 100'000);
  EXPECT_EQ(most_entries({.host = "a", .is_operator_specified = true}), 1'000'000);
  EXPECT_EQ(most_entries(kHosts), std::numeric_limits<std::int64_t>::max());
}

TEST_F(HostTableTest, a_host_may_have_several_lists) {
  const HostList collection{"https://relay.test", list_of_collection("app.test.thing")};
  EXPECT_EQ(add({kHosts, collection, {"https://relay.test"}, kHosts}), 3U);
  EXPECT_EQ(lease_next().size(), 3U);
  EXPECT_TRUE(save(collection, "next"));
  EXPECT_EQ(column(collection, "cursor"), "next");
  EXPECT_EQ(column(kHosts, "coalesce(cursor, 'none')"), "none");
}

TEST_F(HostTableTest, a_list_that_is_asked_for_again_goes_on_or_begins_anew) {
  add({kA, kB});
  lease_next();
  save(kA, "page 2");
  save(kB, std::nullopt);
  EXPECT_EQ(add({kA, kB}, Again::No), 0U);
  EXPECT_EQ(column(kB, "state"), "listed");
  EXPECT_EQ(add({kA, kB}, Again::Yes), 1U);
  EXPECT_EQ(column(kA, "cursor"), "page 2");
  EXPECT_EQ(column(kA, "lease_owner"), kListOwner);
  EXPECT_EQ(column(kB, "concat_ws(' ', state, listed, cursor)"), "none 0");
  EXPECT_THAT(leased(), ElementsAre(kB.host));
}

TEST_F(HostTableTest, who_asks_again_does_not_want_to_wait) {
  add({kA, kB});
  lease_next();
  fail(kA);
  fail(kB, 0s, 1);
  EXPECT_THAT(leased(), IsEmpty());
  add({kA, kB}, Again::No);
  EXPECT_THAT(leased(), IsEmpty());
  EXPECT_EQ(add({kA, kB}, Again::Yes), 1U) << "the one that was abandoned";
  EXPECT_THAT(leased(), ElementsAre(kA.host, kB.host));
}

}  // namespace
}  // namespace skua::backfill::host_table_test
