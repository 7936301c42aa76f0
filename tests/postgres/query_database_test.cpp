#include "postgres/query_database.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/connection_string.hpp"
#include "support/postgres.hpp"

namespace skua::postgres::query_database_test {
namespace {

TEST(QueryDatabase, definitions_read_the_column_of_the_nodes) {
  EXPECT_EQ(for_query_database("SELECT least(p.created_at, p.indexed_at) FROM x p"),
            "SELECT p.sort_at FROM x p");
  EXPECT_EQ(for_query_database("least(a.created_at, b.indexed_at)"),
            "least(a.created_at, b.indexed_at)");
}

TEST(QueryDatabase, definitions_read_the_name_of_an_account) {
  EXPECT_EQ(for_query_database("SELECT coalesce(a.handle, a.did) FROM bsky.actors AS a"),
            "SELECT a.handle_or_did FROM bsky.actors AS a");
  EXPECT_EQ(for_query_database("SELECT coalesce(p.handle, p.did) FROM bsky.actors a, shown p"),
            "SELECT coalesce(p.handle, p.did) FROM bsky.actors a, shown p");
}

TEST(QueryDatabase, definitions_read_the_age_of_an_account) {
  EXPECT_EQ(for_query_database("SELECT (SELECT i.created_at FROM skua.identities i WHERE i.did = "
                               "a.did) AS age FROM bsky.actors a"),
            "SELECT a.account_created_at AS age FROM bsky.actors a");
}

TEST(QueryDatabase, definitions_read_the_references_of_a_record) {
  EXPECT_EQ(for_query_database("JOIN bsky.records AS t ON bsky.record_links(t.record) @> x.texts"),
            "JOIN bsky.records AS t ON t.record_links @> x.texts");
}

TEST(QueryDatabase, a_join_with_a_projection_is_an_aggregate_of_one_row) {
  EXPECT_EQ(for_query_database("LEFT JOIN bsky.actor_stats stats ON stats.actor_id = a.id;\n"),
            "LEFT JOIN LATERAL (SELECT max(stats.followers) AS followers, max(stats.follows) AS "
            "follows, max(stats.posts) AS posts FROM bsky.actor_stats stats WHERE stats.actor_id = "
            "a.id) stats ON true;\n");
  EXPECT_EQ(for_query_database("LEFT JOIN bsky.actors a ON a.id = t.id"),
            "LEFT JOIN bsky.actors a ON a.id = t.id");
}

TEST(QueryDatabase, conditions_are_sent_to_the_nodes) {
  EXPECT_EQ(for_query_database("WHERE a.active IS NOT FALSE AND p.sort_at > now() - interval '1 "
                               "day' AND least(p.created_at, p.indexed_at) <= now() - INTERVAL '3 "
                               "days'"),
            "WHERE a.active IS DISTINCT FROM false AND p.sort_at > (SELECT now() - interval '1 "
            "day') AND p.sort_at <= (SELECT now() - INTERVAL '3 days')");
  const std::string sent = "select 1 from p where sort_at > (select now() - interval '1 day')";
  EXPECT_EQ(for_query_database(sent), sent);
}

TEST(QueryDatabase, connection_options_are_those_of_the_string) {
  const ConnectionOptionList list =
      connection_options("postgresql://ann:secret@[::1]:5433/west?sslmode=require");
  EXPECT_THAT(list.names, testing::UnorderedElementsAre("user", "password", "host", "port",
                                                        "dbname", "sslmode"));
  EXPECT_THAT(list.values,
              testing::UnorderedElementsAre("ann", "secret", "::1", "5433", "west", "require"));
}

class QueryDatabaseTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }
};

TEST_F(QueryDatabaseTest, an_ordinary_database_is_none) {
  EXPECT_FALSE(is_query_database(session()));
  EXPECT_TRUE(read_nodes(session()).empty());
  EXPECT_TRUE(node_states(session()).empty());
}

TEST_F(QueryDatabaseTest, ranges_of_groups) {
  EXPECT_EQ(value("SELECT string_agg(first_group || '-' || last_group, ' ' ORDER BY first_group) "
                  "FROM skua.group_ranges('{0,1,2,7,9,10,63}')"),
            "0-2 7-7 9-10 63-63");
  EXPECT_EQ(value("SELECT concat_ws(' ', skua.group_bound(0, 57), skua.group_bound(1, 57), "
                  "skua.group_bound(64, 57))"),
            "0 144115188075855872 MAXVALUE");
}

TEST_F(QueryDatabaseTest, a_migration_adds_the_columns_that_the_nodes_compute) {
  Schema newer = schema();
  Transaction transaction(session());
  divide_tables(session(), newer);
  session().run("ALTER TABLE bsky.posts DROP COLUMN sort_at CASCADE");
  transaction.commit();
  newer.migrations.push_back({newer.version() + 1, "empty", "SELECT"});
  migrate(session(), newer);
  EXPECT_EQ(value("SELECT count(sort_at) FROM bsky.posts"), "0");
  EXPECT_EQ(value("SELECT count(sort_at) FROM bsky.posts_view"), "0");
}

TEST_F(QueryDatabaseTest, a_role_without_rights_learns_what_a_superuser_runs) {
  const std::string role = "plain_" + database_.name();
  session().run("CREATE ROLE " + role + "; CREATE EXTENSION postgres_fdw; SET ROLE " + role);
  try {
    require_foreign_tables(session());
    ADD_FAILURE() << "not refused";
  } catch (const NodeError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("GRANT USAGE ON FOREIGN DATA WRAPPER "
                                                 "postgres_fdw TO \"" +
                                                 role + "\""));
  }
  session().run("RESET ROLE; GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO " + role +
                "; SET ROLE " + role);
  EXPECT_NO_THROW(require_foreign_tables(session()));
  session().run("RESET ROLE; DROP OWNED BY " + role + "; DROP ROLE " + role);
}

}  // namespace
}  // namespace skua::postgres::query_database_test
