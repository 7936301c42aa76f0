#include "backfill/discovery/host_table.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backfill/queue/due_jobs.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"

namespace skua::backfill::host_table_test {
namespace {

using namespace std::chrono_literals;
using store::Session;
using store::Transaction;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

const std::string kHolder = "skua backfill pid 1 at here";
const HostList kA{"https://a.test"};
const HostList kB{"https://b.test"};
const HostList kHosts{"https://relay.test", kListOfHosts};

class HostTableTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  std::size_t add(const std::vector<HostList>& lists, Again again = Again::Yes) {
    return add_lists(session(), lists, again, clock_.now());
  }
  LeaseRequest as(const std::string& lease_owner) { return {lease_owner, clock_.now(), 2min}; }
  std::vector<LeasedList> lease_next(std::size_t limit = 10) {
    return lease_lists(session(), limit, as(kHolder));
  }
  std::vector<std::string> leased(std::size_t limit = 10) {
    std::vector<std::string> hosts;
    for (const LeasedList& each : lease_next(limit)) hosts.push_back(each.list.host);
    std::sort(hosts.begin(), hosts.end());
    return hosts;
  }
  bool save(const HostList& list, std::optional<std::string> cursor, std::int64_t entries = 1000) {
    return save_page(session(), list, cursor, entries, as(kHolder));
  }
  bool fail(const HostList& list, std::chrono::seconds asked = 0s, int max_attempts = 15) {
    return list_failed(session(), list, "no answer", asked, kHolder, clock_.now(), max_attempts);
  }
  std::string column(const HostList& list, const std::string& expression) {
    return value("SELECT " + expression + " FROM skua.backfill_hosts WHERE host = '" + list.host +
                 "' AND what = '" + list.what + "'");
  }

  test::ManualClock clock_;
};

TEST_F(HostTableTest, a_list_is_read_page_by_page_to_its_end) {
  EXPECT_EQ(add({kA}), 1U);
  auto lists = lease_next();
  ASSERT_EQ(lists.size(), 1U);
  EXPECT_EQ(lists[0].list, kA);
  EXPECT_EQ(lists[0].cursor, std::nullopt);
  EXPECT_TRUE(save(kA, "page 2"));
  EXPECT_THAT(leased(), IsEmpty()) << "its lease_owner goes on with it";
  EXPECT_TRUE(save(kA, "page 3", 500));
  EXPECT_EQ(release_lists(session(), kHolder, clock_.now()), 1U);
  lists = lease_next();
  ASSERT_EQ(lists.size(), 1U);
  EXPECT_EQ(lists[0].cursor, "page 3");
  EXPECT_EQ(lists[0].listed, 1500);
  EXPECT_TRUE(save(kA, std::nullopt, 7));
  EXPECT_EQ(column(kA, "concat_ws(' ', state, listed, cursor, lease_owner)"), "listed 1507");
  clock_.advance(std::chrono::hours(1000));
  EXPECT_THAT(leased(), IsEmpty());
  EXPECT_EQ(next_page_due(session()), std::nullopt);
}

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

TEST_F(HostTableTest, a_page_and_its_jobs_are_one_transaction) {
  add({kA});
  lease_next();
  const auto save_with_jobs = [&] {
    add_jobs(session(), std::vector<NewJob>{{"did:plc:alice", kA.host}}, Again::No, clock_.now());
    save(kA, "page 2");
  };
  {
    Transaction killed(session());
    save_with_jobs();
  }
  EXPECT_EQ(column(kA, "coalesce(cursor, 'none')"), "none");
  EXPECT_FALSE(jobs_remain(session()));
  Transaction transaction(session());
  save_with_jobs();
  transaction.commit();
  EXPECT_EQ(column(kA, "cursor"), "page 2");
  EXPECT_TRUE(jobs_remain(session()));
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
  EXPECT_EQ(column(kA, "lease_owner"), kHolder);
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
  EXPECT_EQ(add({kA, kB}, Again::Yes), 1U) << "the one that was given up";
  EXPECT_THAT(leased(), ElementsAre(kA.host, kB.host));
}

TEST_F(HostTableTest, those_that_wait_longest_are_first) {
  add({kB});
  clock_.advance(1s);
  add({kA});
  EXPECT_THAT(leased(1), ElementsAre(kB.host));
  EXPECT_THAT(leased(1), ElementsAre(kA.host));
  EXPECT_THAT(leased(1), IsEmpty());
}

TEST_F(HostTableTest, what_another_session_is_leasing_is_passed_over) {
  add({kA});
  clock_.advance(1s);
  add({kB});
  Session other(database_.url(), "other");
  Transaction open(other);
  EXPECT_EQ(lease_lists(other, 1, as("other")).size(), 1U);
  EXPECT_THAT(leased(), ElementsAre(kB.host));
}

TEST_F(HostTableTest, a_lease_that_is_over_gives_the_list_to_another) {
  add({kA});
  lease_next();
  clock_.advance(1min);
  save(kA, "page 2");
  clock_.advance(2min - 1us);
  EXPECT_THAT(lease_lists(session(), 1, as("other")), IsEmpty()) << "the page extended it";
  clock_.advance(1us);
  ASSERT_EQ(lease_lists(session(), 1, as("other")).size(), 1U);
  EXPECT_FALSE(save(kA, "page 3"));
  EXPECT_EQ(column(kA, "cursor"), "page 2");
  EXPECT_TRUE(fail(kA)) << "it is not the lease_owner's to give up";
  EXPECT_EQ(column(kA, "attempts || lease_owner"), "0other");
}

TEST_F(HostTableTest, the_lists_of_a_holder_without_a_session_are_taken_back_at_once) {
  add({kA, kB});
  Session alive(database_.url(), "skua backfill that lives");
  const auto kept = lease_lists(session(), 1, as("skua backfill that lives"));
  const auto lost = lease_lists(session(), 1, as("skua backfill that was killed"));
  ASSERT_EQ(kept.size() + lost.size(), 2U);
  EXPECT_EQ(take_back_orphan_lists(session(), clock_.now()), 1U);
  EXPECT_THAT(leased(), ElementsAre(lost[0].list.host));
}

TEST_F(HostTableTest, a_page_that_fails_waits_longer_each_time) {
  add({kA});
  for (const auto wait : {10s, 20s, 40s}) {
    EXPECT_THAT(leased(), ElementsAre(kA.host));
    EXPECT_TRUE(fail(kA));
    EXPECT_EQ(next_page_due(session()), clock_.now() + wait);
    clock_.advance(wait - 1us);
    EXPECT_THAT(leased(), IsEmpty());
    clock_.advance(1us);
  }
  EXPECT_EQ(column(kA, "concat_ws(' ', state, attempts, error)"), "listing 3 no answer");
  lease_next();
  save(kA, "page 2");
  EXPECT_EQ(column(kA, "concat_ws(' ', state, attempts, error)"), "listing 0");
  fail(kA, 100s);
  EXPECT_EQ(next_page_due(session()), clock_.now() + 110s);
}

TEST_F(HostTableTest, after_too_many_failures_in_a_row_a_list_is_given_up) {
  add({kA});
  for (int attempt = 1; attempt <= 3; ++attempt) {
    EXPECT_THAT(leased(), ElementsAre(kA.host));
    EXPECT_EQ(fail(kA, 0s, 3), attempt < 3);
    clock_.advance(6h);
  }
  EXPECT_THAT(leased(), IsEmpty());
  EXPECT_EQ(column(kA, "state"), "failed");
}

TEST_F(HostTableTest, a_wait_that_the_host_asked_for_is_no_failure) {
  add({kA});
  lease_next();
  list_postponed(session(), kA, "asked to wait", 30s, kHolder, clock_.now());
  EXPECT_EQ(next_page_due(session()), clock_.now() + 30s);
  EXPECT_EQ(column(kA, "concat_ws(' ', state, attempts, error)"), "listing 0 asked to wait");
}

TEST_F(HostTableTest, lists_are_counted_by_kind) {
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
}  // namespace skua::backfill::host_table_test
