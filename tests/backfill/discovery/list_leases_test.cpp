#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backfill/discovery/list_table.hpp"
#include "backfill/discovery/lists_of_hosts.hpp"
#include "backfill/queue/job_leases.hpp"
#include "support/postgres.hpp"

namespace skua::backfill::list_leases_test {
namespace {

using namespace std::chrono_literals;
using postgres::Session;
using postgres::Transaction;
using test::kListOwner;
using testing::ElementsAre;
using testing::IsEmpty;

const HostList kA{"https://a.test"};
const HostList kB{"https://b.test"};

class ListLeasesTest : public test::ListsOfHosts {};

TEST_F(ListLeasesTest, a_list_is_read_page_by_page_to_its_end) {
  EXPECT_EQ(add({kA}), 1U);
  auto lists = lease_next();
  ASSERT_EQ(lists.size(), 1U);
  EXPECT_EQ(lists[0].list, kA);
  EXPECT_EQ(lists[0].cursor, std::nullopt);
  EXPECT_TRUE(save(kA, "page 2"));
  EXPECT_THAT(leased(), IsEmpty()) << "its lease_owner goes on with it";
  EXPECT_TRUE(save(kA, "page 3", 500));
  EXPECT_EQ(release_lists(session(), kListOwner, clock_.now()), 1U);
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

TEST_F(ListLeasesTest, a_page_and_its_jobs_are_one_transaction) {
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

TEST_F(ListLeasesTest, those_that_wait_longest_are_first) {
  add({kB});
  clock_.advance(1s);
  add({kA});
  EXPECT_THAT(leased(1), ElementsAre(kB.host));
  EXPECT_THAT(leased(1), ElementsAre(kA.host));
  EXPECT_THAT(leased(1), IsEmpty());
}

TEST_F(ListLeasesTest, what_another_session_is_leasing_is_passed_over) {
  add({kA});
  clock_.advance(1s);
  add({kB});
  Session other(database_.url(), "other");
  Transaction open(other);
  EXPECT_EQ(lease_lists(other, 1, as("other")).size(), 1U);
  EXPECT_THAT(leased(), ElementsAre(kB.host));
}

TEST_F(ListLeasesTest, a_lease_that_is_over_gives_the_list_to_another) {
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
  EXPECT_TRUE(fail(kA)) << "it is not the lease_owner's to abandon";
  EXPECT_EQ(column(kA, "attempts || lease_owner"), "0other");
}

TEST_F(ListLeasesTest, the_lists_of_an_owner_without_a_session_are_reclaimed_at_once) {
  add({kA, kB});
  Session alive(database_.url(), "skua backfill that lives");
  const auto kept = lease_lists(session(), 1, as("skua backfill that lives"));
  const auto lost = lease_lists(session(), 1, as("skua backfill that was killed"));
  ASSERT_EQ(kept.size() + lost.size(), 2U);
  EXPECT_EQ(reclaim_orphan_lists(session(), clock_.now()), 1U);
  EXPECT_THAT(leased(), ElementsAre(lost[0].list.host));
}

TEST_F(ListLeasesTest, a_page_that_fails_waits_longer_each_time) {
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

TEST_F(ListLeasesTest, after_too_many_failures_in_a_row_a_list_is_abandoned) {
  add({kA});
  for (int attempt = 1; attempt <= 3; ++attempt) {
    EXPECT_THAT(leased(), ElementsAre(kA.host));
    EXPECT_EQ(fail(kA, 0s, 3), attempt < 3);
    clock_.advance(6h);
  }
  EXPECT_THAT(leased(), IsEmpty());
  EXPECT_EQ(column(kA, "state"), "failed");
}

TEST_F(ListLeasesTest, a_wait_that_the_host_asked_for_is_no_failure) {
  add({kA});
  lease_next();
  list_postponed(session(), kA, "asked to wait", 30s, kListOwner, clock_.now());
  EXPECT_EQ(next_page_due(session()), clock_.now() + 30s);
  EXPECT_EQ(column(kA, "concat_ws(' ', state, attempts, error)"), "listing 0 asked to wait");
}

}  // namespace
}  // namespace skua::backfill::list_leases_test
