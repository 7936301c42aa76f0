#include "backfill/bootstrap_indexes.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/advisory_lock.hpp"
#include "support/postgres.hpp"

namespace skua::backfill {
namespace {

using store::Session;
using testing::HasSubstr;

class BootstrapIndexesTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  /// Every index of the schema, with its definition.
  std::string indexes() {
    return value(
        "SELECT string_agg(indexdef, E'\n' ORDER BY indexname) FROM pg_indexes "
        "WHERE schemaname = 'bsky'");
  }
  std::string refusal() {
    try {
      begin_bootstrap(session());
    } catch (const BootstrapRefused& refused) {
      return refused.what();
    }
    return "begun";
  }
  std::size_t finish(int at_once = 3) { return finish_bootstrap(database_.url(), {at_once, 64}); }
};

TEST_F(BootstrapIndexesTest, what_is_dropped_comes_back_as_it_was) {
  const std::string before = indexes();
  EXPECT_FALSE(bootstrap_is_open(session()));
  const std::size_t dropped = begin_bootstrap(session());
  EXPECT_EQ(dropped, 12U);
  EXPECT_TRUE(bootstrap_is_open(session()));
  EXPECT_EQ(value("SELECT count(*) FROM pg_index AS i JOIN pg_class AS t ON t.oid = i.indrelid "
                  "WHERE t.relnamespace = 'bsky'::regnamespace AND NOT i.indisunique "
                  "AND t.relname <> 'actors'"),
            "0");
  EXPECT_EQ(value("SELECT count(*) FROM pg_class AS t WHERE relnamespace = 'bsky'::regnamespace "
                  "AND relkind = 'r' AND NOT EXISTS (SELECT FROM pg_index AS i "
                  "WHERE i.indrelid = t.oid AND i.indisprimary)"),
            "0")
      << "every table keeps its key";
  EXPECT_NE(value("SELECT to_regclass('bsky.actors_handle')"), "");
  std::vector<std::string> built;
  EXPECT_EQ(finish_bootstrap(database_.url(), {3, 64},
                             [&](const std::string& name) { built.push_back(name); }),
            dropped);
  EXPECT_EQ(built.size(), dropped);
  EXPECT_NE(std::find(built.begin(), built.end(), "bsky.likes_subject"), built.end());
  EXPECT_EQ(indexes(), before);
  EXPECT_FALSE(bootstrap_is_open(session()));
  EXPECT_EQ(finish(), 0U);
}

TEST_F(BootstrapIndexesTest, tables_with_rows_are_refused) {
  session().run(
      "INSERT INTO bsky.likes (rkey, rev, indexed_at, actor_id, cid) VALUES (1, 1, now(), 1, '')");
  EXPECT_THAT(refusal(), HasSubstr("bsky.likes has rows"));
  EXPECT_FALSE(bootstrap_is_open(session()));
  EXPECT_NE(value("SELECT to_regclass('bsky.likes_subject')"), "");
}

TEST_F(BootstrapIndexesTest, known_accounts_do_not_hinder_it) {
  session().run("INSERT INTO bsky.actors (did, indexed_at) VALUES ('did:plc:alice', now())");
  EXPECT_EQ(refusal(), "begun");
}

TEST_F(BootstrapIndexesTest, a_held_source_is_refused_and_named) {
  Session run(database_.url(), "skua run relay:a.test");
  {
    const store::SourceLock held(run, "relay:a.test");
    EXPECT_THAT(refusal(), HasSubstr("'skua run relay:a.test'"));
    EXPECT_FALSE(bootstrap_is_open(session()));
  }
  EXPECT_EQ(refusal(), "begun");
}

TEST_F(BootstrapIndexesTest, an_open_one_is_gone_on_with_whatever_was_written) {
  EXPECT_EQ(begin_bootstrap(session()), 12U);
  session().run(
      "INSERT INTO bsky.likes (rkey, rev, indexed_at, actor_id, cid) VALUES (1, 1, now(), 1, '')");
  EXPECT_EQ(begin_bootstrap(session()), 0U);
  EXPECT_EQ(finish(), 12U);
}

/// What a process that ended at some moment, or a person, may have left.
struct Left {
  const char* name;
  const char* sql;
  std::size_t to_build;
};

class BootstrapLeftOver : public BootstrapIndexesTest, public testing::WithParamInterface<Left> {};

TEST_P(BootstrapLeftOver, is_brought_to_its_end) {
  const std::string before = indexes();
  begin_bootstrap(session());
  session().run(GetParam().sql);
  EXPECT_EQ(finish(), GetParam().to_build);
  EXPECT_EQ(indexes(), before);
  EXPECT_EQ(value("SELECT count(*) FROM pg_index WHERE NOT indisvalid"), "0");
  EXPECT_FALSE(bootstrap_is_open(session()));
}

INSTANTIATE_TEST_SUITE_P(
    Bootstrap, BootstrapLeftOver,
    testing::Values(Left{"all", "SELECT 1", 12},
                    Left{"built_and_asked_for",
                         "CREATE INDEX likes_subject ON bsky.likes (subject_actor, subject_rkey)",
                         12},
                    Left{"broken_off",
                         "CREATE INDEX likes_subject ON bsky.likes (subject_actor, subject_rkey); "
                         "UPDATE pg_index SET indisvalid = false "
                         "WHERE indexrelid = 'bsky.likes_subject'::regclass",
                         12},
                    Left{"one_built",
                         "CREATE INDEX likes_subject ON bsky.likes (subject_actor, subject_rkey); "
                         "DELETE FROM skua.dropped_indexes WHERE name = 'bsky.likes_subject'",
                         11}),
    [](const auto& test) { return test.param.name; });

TEST_F(BootstrapIndexesTest, a_build_that_fails_leaves_the_others_and_can_be_done_again) {
  const std::string before = indexes();
  begin_bootstrap(session());
  session().run(
      "UPDATE skua.dropped_indexes SET definition = replace(definition, 'subject_rkey', 'nothing') "
      "WHERE name = 'bsky.likes_subject'");
  EXPECT_THROW(finish(1), store::DefectError);
  EXPECT_TRUE(bootstrap_is_open(session()));
  session().run(
      "UPDATE skua.dropped_indexes SET definition = replace(definition, 'nothing', 'subject_rkey') "
      "WHERE name = 'bsky.likes_subject'");
  EXPECT_GE(finish(), 1U);
  EXPECT_EQ(indexes(), before);
}

TEST_F(BootstrapIndexesTest, a_builder_that_dies_leaves_its_index_to_the_next) {
  const std::string before = indexes();
  begin_bootstrap(session());
  {
    Session dying(database_.url(), "dying");
    dying.begin();
    dying.run("SELECT FROM skua.dropped_indexes WHERE name = 'bsky.likes_subject' FOR UPDATE");
    EXPECT_EQ(finish(), 11U) << "it is being built elsewhere";
    EXPECT_TRUE(bootstrap_is_open(session()));
    dying.run("CREATE INDEX likes_subject ON bsky.likes (subject_actor, subject_rkey)");
  }
  EXPECT_EQ(finish(), 1U);
  EXPECT_EQ(indexes(), before);
}

}  // namespace
}  // namespace skua::backfill
