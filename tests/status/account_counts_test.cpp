#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "status/database_size.hpp"
#include "support/postgres.hpp"

namespace skua::status::account_counts_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class AccountCountsTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  /// `count` accounts, numbered from the last on.
  void add_accounts(int count, const std::string& active = "NULL",
                    const std::string& status = "NULL") {
    session().run(
        "INSERT INTO bsky.actors (did, indexed_at, active, status) SELECT 'did:plc:' || "
        "nextval('seen'), now(), " +
        active + ", " + status + " FROM generate_series(1, " + std::to_string(count) + ")");
  }
  void make_sequence() { session().run("CREATE SEQUENCE seen"); }
  /// A record of every `nth` account.
  void add_records(int nth) {
    session().run(
        "INSERT INTO bsky.records (actor_id, collection_id, rkey, rev, cid, record, indexed_at) "
        "SELECT id, 1000, 1, 5, decode(repeat('11', 32), 'hex'), '{}', now() FROM bsky.actors "
        "WHERE id % " +
        std::to_string(nth) + " = 0");
  }
};

TEST_F(AccountCountsTest, of_nothing_is_nothing) {
  const AccountCounts counts = account_counts(session());
  EXPECT_TRUE(counts.exact);
  EXPECT_EQ(counts.known, 0);
  EXPECT_THAT(counts.hidden, IsEmpty());
  EXPECT_THAT(repository_counts(session()).by_state, IsEmpty());
}

TEST_F(AccountCountsTest, few_are_counted) {
  make_sequence();
  session().run("INSERT INTO bsky.collections (id, nsid) VALUES (1000, 'com.example.thing')");
  add_accounts(20, "true");
  add_accounts(3, "false", "'deactivated'");
  add_accounts(1, "false");
  add_records(2);
  // A stub is no record.
  session().run(
      "INSERT INTO bsky.posts (actor_id, rkey, rev, indexed_at) SELECT id, 1, 0, now() FROM "
      "bsky.actors WHERE id = 1");
  session().run(
      "INSERT INTO skua.repositories (did, state) SELECT did, 'complete' FROM bsky.actors "
      "WHERE id % 3 = 0");
  const AccountCounts counts = account_counts(session());
  EXPECT_TRUE(counts.exact);
  EXPECT_EQ(counts.known, 24);
  EXPECT_EQ(counts.with_records, 12);
  EXPECT_EQ(counts.without_chain, 8);
  EXPECT_THAT(counts.hidden, ElementsAre(Pair("deactivated", 3), Pair("inactive", 1)));
}

TEST_F(AccountCountsTest, many_are_projected) {
  make_sequence();
  session().run("INSERT INTO bsky.collections (id, nsid) VALUES (1000, 'com.example.thing')");
  add_accounts(30'000, "true");
  add_accounts(10'000, "false", "'deleted'");
  add_records(2);
  const AccountCounts counts = account_counts(session(), 4'000);
  EXPECT_FALSE(counts.exact);
  EXPECT_EQ(counts.known, 40'000);
  // Nine standard deviations.
  EXPECT_NEAR(static_cast<double>(counts.with_records), 20'000, 3'000);
  EXPECT_EQ(counts.without_chain, counts.with_records);
  EXPECT_NEAR(static_cast<double>(counts.hidden.at("deleted")), 10'000, 2'600);
}

TEST_F(AccountCountsTest, repositories_are_counted_by_state) {
  session().run(
      "INSERT INTO skua.repositories (did, state, error) SELECT 'did:plc:' || i, "
      "CASE WHEN i <= 3 THEN 'desynchronized' WHEN i % 2 = 0 THEN 'complete' ELSE 'partial' END, "
      "CASE WHEN i = 1 THEN 'words' END FROM generate_series(1, 30000) AS i");
  const RepositoryCounts all = repository_counts(session());
  EXPECT_TRUE(all.exact);
  EXPECT_THAT(all.by_state, ElementsAre(Pair("complete", 14'999), Pair("desynchronized", 3),
                                        Pair("partial", 14'998)));
  EXPECT_EQ(all.resyncs_failed, 1);
  // What waits is counted all the same.
  const RepositoryCounts some = repository_counts(session(), 100);
  EXPECT_FALSE(some.exact);
  EXPECT_EQ(some.by_state.at("desynchronized"), 3);
  EXPECT_NEAR(static_cast<double>(some.by_state.at("complete")), 15'000, 7'500);
}

}  // namespace
}  // namespace skua::status::account_counts_test
