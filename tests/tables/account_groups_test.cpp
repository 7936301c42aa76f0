#include "tables/account_groups.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/postgres.hpp"

namespace skua::tables::account_groups_test {
namespace {

using atproto::GroupSet;
using atproto::NumberKey;

class AccountGroupsTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  static GroupSet set_of(const char* text) { return GroupSet::parse(text).value(); }

  void expect_refused(const std::string& reason) {
    try {
      state_account_groups(session(), set_of("0-31"));
      ADD_FAILURE() << "not refused";
    } catch (const GroupsRefused& refused) {
      EXPECT_THAT(refused.what(), testing::HasSubstr("--groups 0-31: the database owns "));
      EXPECT_THAT(refused.what(), testing::HasSubstr(reason));
    }
  }
};

class AccountGroupOfDid : public AccountGroupsTest,
                          public testing::WithParamInterface<const char*> {};

TEST_P(AccountGroupOfDid, is_the_same_in_sql) {
  EXPECT_EQ(
      session().run("SELECT bsky.account_group($$" + std::string(GetParam()) + "$$)").int4(0, 0),
      atproto::account_group(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, AccountGroupOfDid,
                         testing::Values("", "did:plc:z72i7hdynmk6r22z27h6tvur",
                                         "did:plc:ewvi7nxzyoun6zhxrhs64oiz", "did:web:example.com",
                                         "did:web:localhost%3A1234", "did:x:\\101",
                                         "did:x:\xc3\xa9"));

TEST_F(AccountGroupsTest, a_new_database_owns_all) {
  const AccountGroups groups = load_account_groups(session());
  EXPECT_TRUE(groups.numbers_have_group);
  EXPECT_TRUE(groups.owned.has_all());
}

TEST_F(AccountGroupsTest, stay_as_they_were_stated) {
  EXPECT_TRUE(state_account_groups(session(), std::nullopt).owned.has_all());
  EXPECT_EQ(state_account_groups(session(), set_of("3-4")).owned, set_of("3-4"));
  EXPECT_EQ(state_account_groups(session(), set_of("40,0-31")).owned, set_of("0-31,40"));
  session().run("INSERT INTO bsky.actors (did, indexed_at) VALUES ('did:plc:a', now())");
  EXPECT_EQ(state_account_groups(session(), std::nullopt).owned, set_of("0-31,40"));
  EXPECT_EQ(state_account_groups(session(), set_of("0-31,40")).owned, set_of("0-31,40"));
  expect_refused("the groups 0-31,40, and the groups of a database do not change");
  EXPECT_EQ(load_account_groups(session()).owned, set_of("0-31,40"));
}

class UsedDatabase : public AccountGroupsTest, public testing::WithParamInterface<const char*> {};

TEST_P(UsedDatabase, keeps_its_groups) {
  session().run(GetParam());
  expect_refused("all groups of accounts, and the groups of a database do not change");
}

INSTANTIATE_TEST_SUITE_P(
    All, UsedDatabase,
    testing::Values(
        "INSERT INTO bsky.actors (did, indexed_at) VALUES ('did:plc:a', now())",
        "INSERT INTO skua.repositories (did, state) VALUES ('did:plc:a', 'partial')",
        "INSERT INTO skua.cursors (source, cursor, saved_at) VALUES ('relay:a', 1, now())",
        "INSERT INTO skua.backfill_jobs (did, created_at, next_attempt) VALUES "
        "('did:plc:a', now(), now())"));

TEST_F(AccountGroupsTest, numbers_without_groups_refuse_them) {
  session().run("UPDATE skua.account_groups SET numbers_have_group = false");
  expect_refused("its account numbers are of a version that did not know groups");
  EXPECT_TRUE(state_account_groups(session(), GroupSet()).owned.has_all());
}

TEST_F(AccountGroupsTest, another_process_has_read_them) {
  postgres::Session other(database_.url(), "skua run pid 1 at host token");
  expect_refused("'skua run pid 1 at host token' works with these");
  postgres::Session reader(database_.url(), "skua query pid 1 at host token");
  other.run("SET application_name = 'skua serve pid 1'");
  EXPECT_EQ(state_account_groups(session(), set_of("5")).owned, set_of("5"));
}

NumberKey key_of(std::uint8_t byte) {
  NumberKey key;
  key.fill(byte);
  return key;
}

class ComputedNumber : public AccountGroupsTest, public testing::WithParamInterface<const char*> {};

TEST_P(ComputedNumber, is_the_same_in_sql) {
  make_node(session(), set_of("0-63"), key_of(9));
  EXPECT_EQ(session()
                .run("SELECT skua.new_account_number($$" + std::string(GetParam()) + "$$)")
                .int8(0, 0),
            atproto::computed_account_number(key_of(9), GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, ComputedNumber,
                         testing::Values("", "did:plc:z72i7hdynmk6r22z27h6tvur", "did:plc:a",
                                         "did:web:example.com", "did:x:\\101", "did:x:\xc3\xa9"));

// A call of a function for each account takes ten times as long.
TEST_F(AccountGroupsTest, a_number_is_an_expression_of_the_statement) {
  const postgres::Rows plan = session().run(
      "EXPLAIN VERBOSE SELECT skua.new_account_number(s.key, s.numbers_have_group, did) "
      "FROM skua.number_scheme() AS s CROSS JOIN unnest(ARRAY['did:plc:a']) AS did");
  std::string text;
  for (std::size_t i = 0; i < plan.size(); ++i) text += plan.text(i, 0);
  EXPECT_NE(text.find("keyed_bits"), std::string::npos) << text;
  EXPECT_EQ(text.find("account_number("), std::string::npos) << text;
}

TEST_F(AccountGroupsTest, a_node_computes_numbers) {
  EXPECT_EQ(load_number_key(session()), std::nullopt);
  make_node(session(), set_of("0-31"), key_of(1));
  make_node(session(), set_of("0-31"), key_of(1));
  const AccountGroups groups = load_account_groups(session());
  EXPECT_TRUE(groups.has_computed_numbers());
  EXPECT_EQ(groups.owned, set_of("0-31"));
  EXPECT_EQ(groups.group_of(atproto::computed_account_number(key_of(1), "did:plc:a")),
            atproto::account_group("did:plc:a"));
  EXPECT_EQ(load_number_key(session()), key_of(1));
  EXPECT_EQ(value("SELECT skua.newest_drawn_number()"), "");
  EXPECT_EQ(value("SELECT skua.new_collection_number('a.b.c') >= 1000 AND "
                  "skua.new_collection_number('a.b.c') = skua.new_collection_number('a.b.c')"),
            "t");
  session().run("INSERT INTO bsky.actors (did, indexed_at) VALUES ('did:plc:a', now())");
  make_node(session(), set_of("0-31"), key_of(1));
  EXPECT_THROW(make_node(session(), set_of("0-31"), key_of(2)), GroupsRefused);
  EXPECT_THROW(make_node(session(), set_of("0-30"), key_of(1)), GroupsRefused);
  EXPECT_EQ(load_number_key(session()), key_of(1));
}

TEST_F(AccountGroupsTest, numbers_of_accounts) {
  const auto group = std::to_string(atproto::account_group("did:plc:a"));
  EXPECT_EQ(value("SELECT skua.newest_drawn_number()"), "0");
  EXPECT_EQ(value("SELECT skua.random_account_number()"), "0");
  EXPECT_EQ(value("SELECT skua.new_account_number('did:plc:a') = (" + group + "::int8 << 46) + 1"),
            "t");
  session().run("UPDATE skua.account_groups SET numbers_have_group = false");
  EXPECT_EQ(value("SELECT skua.new_account_number('did:plc:a')"), "2");
  session().run(
      "INSERT INTO bsky.actors (id, did, indexed_at) OVERRIDING SYSTEM VALUE "
      "SELECT (g::int8 << 46) + 100 - g, 'did:plc:' || g, now() FROM generate_series(0, 63) AS g");
  EXPECT_EQ(value("SELECT skua.newest_drawn_number()"), "100");
  EXPECT_EQ(
      value(
          "SELECT count(DISTINCT n >> 46) > 20 FROM (SELECT skua.random_account_number() AS n FROM "
          "generate_series(1, 1000)) AS r"),
      "t");
}

}  // namespace
}  // namespace skua::tables::account_groups_test
