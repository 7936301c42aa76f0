#include "consumers/own/own_projection.hpp"

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "consumers/own/own_columns.hpp"

namespace skua::consumers::own_projection_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kSimple = R"(-- projection: liked
-- version: 3
-- help: Likes of each account
-- lanes: several
-- collections: app.bsky.feed.like
-- batch seconds: 5
-- batch rows: 1000
-- build seconds: 60
-- internal table: liked_rows
actor_id int8 NOT NULL, rkey int8 NOT NULL, author int8 NOT NULL, PRIMARY KEY (actor_id, rkey)
-- table: liked
author int8 NOT NULL, likes int8 NOT NULL, PRIMARY KEY (author)
-- index: (likes DESC)
-- rows: liked_rows
SELECT l.actor_id, l.rkey, l.subject_actor AS author FROM {keys} AS k JOIN bsky.likes AS l USING (actor_id, rkey)
-- sum: liked
SELECT author, count(*) AS likes FROM {liked_rows} GROUP BY author
)";

const std::string kWritten = R"(-- projection: liked
-- help: Likes of each account
-- table: liked
author int8 NOT NULL PRIMARY KEY, likes int8 NOT NULL
-- fill
INSERT INTO {liked} SELECT subject_actor, count(*) FROM bsky.likes GROUP BY 1
-- fold
DELETE FROM {liked}
)";

TEST(OwnProjection, the_simple_form_gives_all_statements) {
  const Projection projection = read_own_projection(kSimple);
  EXPECT_EQ(projection.name, "liked");
  EXPECT_EQ(projection.version, 3);
  EXPECT_TRUE(projection.has_lanes);
  ASSERT_TRUE(projection.own);
  EXPECT_EQ(projection.own->text, kSimple);
  EXPECT_EQ(projection.own->sha256.size(), 64U);
  EXPECT_EQ(projection.own->limits.batch, std::chrono::seconds(5));
  EXPECT_EQ(projection.own->limits.build, std::chrono::seconds(60));
  EXPECT_EQ(projection.own->limits.rows, 1'000);
  EXPECT_THAT(projection.fill, ElementsAre("SELECT projections.liked_fill1_{consumer}()",
                                           "SELECT projections.liked_sum2_{consumer}()"));
  EXPECT_THAT(projection.fold,
              ElementsAre("SELECT projections.liked_fold1_{consumer}($1::int8, $2::int8, $3::int4, "
                          "$4::int4)"));
  EXPECT_EQ(projection.differences,
            "SELECT * FROM projections.liked_verify_{consumer}($1::int4) LIMIT 10");
  EXPECT_TRUE(projection.own->has_samples());
  const auto& statements = projection.own->statements;
  ASSERT_EQ(statements.size(), 3U);
  EXPECT_THAT(statements[1].sql, HasSubstr("k.actor_id & ($4::int4 - 1) = $3::int4"));
  EXPECT_THAT(statements[1].sql, HasSubstr("LIMIT 1001"));
  // A join of these parts would be a nested loop.
  EXPECT_THAT(
      statements[1].sql,
      HasSubstr("((q.actor_id, q.rkey) IN (SELECT actor_id, rkey FROM skua_records)) IS TRUE"));
  EXPECT_THAT(statements[1].sql, HasSubstr("FROM skua_gone GROUP BY author"));
  EXPECT_EQ(projection.own->tables[1].condition, "ROW(likes) IS DISTINCT FROM ROW(0)");
}

TEST(OwnProjection, a_file_with_its_own_statements_keeps_them) {
  const Projection projection = read_own_projection(kWritten);
  ASSERT_EQ(projection.own->statements.size(), 2U);
  EXPECT_EQ(projection.own->statements[1].sql, "DELETE FROM {liked}");
  EXPECT_THAT(projection.fold,
              ElementsAre("SELECT projections.liked_fold1_{consumer}($1::int8, $2::int8, 0, 1)"));
  EXPECT_FALSE(projection.own->has_samples());
  EXPECT_EQ(projection.own->limits.batch, std::chrono::seconds(10));
  const Projection compared =
      read_own_projection(kWritten + "-- differences\nSELECT 'a' WHERE false\n");
  EXPECT_EQ(compared.differences,
            "SELECT * FROM projections.liked_differences_{consumer}($1::int4) LIMIT 10");
}

TEST(OwnProjection, a_query_database_shows_sums_and_rows) {
  const Projection simple = read_own_projection(kSimple);
  const auto& tables = simple.own->tables;
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_TRUE(tables[0].is_internal);
  EXPECT_EQ(tables[0].on_nodes, OnNodes::Rows);
  EXPECT_EQ(tables[1].on_nodes, OnNodes::Sums);
  EXPECT_EQ(tables[1].types, "author int8, likes int8");
  EXPECT_THAT(tables[1].key, ElementsAre("author"));
  const auto stated = [](const char* line) {
    std::string text = kWritten;
    text.insert(text.find("-- fill"), line);
    return read_own_projection(text).own->tables.front().on_nodes;
  };
  EXPECT_EQ(stated(""), OnNodes::Unknown);
  EXPECT_EQ(stated("-- nodes: rows\n"), OnNodes::Rows);
  EXPECT_EQ(stated("-- nodes: sums\n"), OnNodes::Sums);
}

struct OwnMistake {
  const char* name;
  /// A text of `kSimple`, and the text in its place.
  const char* from;
  const char* to;
  const char* message;
};

class OwnProjectionMistake : public testing::TestWithParam<OwnMistake> {};

TEST_P(OwnProjectionMistake, is_refused) {
  std::string text = kSimple;
  const auto at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(GetParam().from).size(), GetParam().to);
  try {
    read_own_projection(text);
    ADD_FAILURE() << "it was read";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, OwnProjectionMistake,
    testing::Values(
        OwnMistake{"name_with_quotes", "projection: liked\n", "projection: a\"b\n",
                   "a name has a-z, 0-9 and _"},
        OwnMistake{"name_of_a_consumer", "projection: liked\n", "projection: liked_7\n",
                   "does not end in _ and a number"},
        OwnMistake{"table_with_quotes", "-- table: liked\n", "-- table: \"liked\"\n", "a-z, 0-9"},
        OwnMistake{"no_help", "-- help: Likes of each account\n", "", "-- help"},
        OwnMistake{"collection", "app.bsky.feed.like", "likes", "'likes' is not a collection"},
        OwnMistake{"no_collection", "-- collections: app.bsky.feed.like\n", "",
                   "needs `-- collections"},
        OwnMistake{"seconds", "batch seconds: 5", "batch seconds: 61",
                   "line 6: the number of `-- batch seconds:` is from 1 to 60"},
        OwnMistake{"rows", "batch rows: 1000", "batch rows: many", "from 1 to 10000000"},
        OwnMistake{"include", "-- index: (likes DESC)", "-- include: post_queue", "is one file"},
        OwnMistake{"drain", "-- rows: liked_rows", "-- drain\nSELECT 1\n-- rows: liked_rows",
                   "for built-in projections"},
        OwnMistake{"nodes", "-- index: (likes DESC)", "-- nodes: all",
                   "has the value `rows` or `sums`"},
        OwnMistake{"nodes_of_rows", "-- index: (likes DESC)", "-- nodes: sums",
                   "is for a file with its own fill and fold"},
        OwnMistake{"both_forms", "-- rows: liked_rows", "-- fold\nSELECT 1\n-- rows: liked_rows",
                   "give one form"},
        OwnMistake{"no_keys", "{keys} AS k", "bsky.actors AS k", "needs {keys}"},
        OwnMistake{"other_table", "{liked_rows}", "bsky.likes", "needs FROM {TABLE}"},
        OwnMistake{"unknown_table", "-- sum: liked\n", "-- sum: other\n",
                   "there is no `-- table: other`"},
        OwnMistake{"no_record_key", "PRIMARY KEY (actor_id, rkey)", "PRIMARY KEY (author, rkey)",
                   "its primary key begins with actor_id, rkey"},
        OwnMistake{"second_collection", "app.bsky.feed.like",
                   "app.bsky.feed.like, app.bsky.feed.repost", "needs the column collection_id"},
        OwnMistake{"rounded_sum", "likes int8 NOT NULL", "likes float8 NOT NULL",
                   "an integer or numeric"},
        OwnMistake{"null_sum", "likes int8 NOT NULL", "likes int8", "it is NOT NULL"},
        OwnMistake{"expression", "likes int8 NOT NULL", "likes int8 DEFAULT evil()",
                   "is not a column"},
        OwnMistake{"reference", "likes int8 NOT NULL", "likes int8 REFERENCES bsky.actors",
                   "is not a column"},
        OwnMistake{"end_of_table", "likes int8 NOT NULL, PRIMARY KEY (author)",
                   "likes int8 NOT NULL, PRIMARY KEY (author)) INHERITS (bsky.likes",
                   "table liked: "},
        OwnMistake{"command", "likes int8 NOT NULL,", "likes int8); DROP TABLE bsky.likes; --,",
                   "table liked: "},
        OwnMistake{"quoted_column", "likes int8 NOT NULL", "\"likes\" int8 NOT NULL",
                   "is not a column"},
        OwnMistake{"no_key", ", PRIMARY KEY (author)", "", "needs a PRIMARY KEY"},
        OwnMistake{"key", "PRIMARY KEY (author)", "PRIMARY KEY (auth)", "unknown column auth"},
        OwnMistake{"index", "(likes DESC)", "(evil(likes))", "is not a list of its columns"},
        OwnMistake{"index_command", "(likes DESC)", "(likes); DROP TABLE bsky.likes",
                   "is not a list of its columns"}),
    [](const auto& given) { return std::string(given.param.name); });

TEST(OwnProjection, input_that_is_too_large_is_refused_quickly) {
  EXPECT_THROW(read_own_projection(std::string(kLargestOwnFile + 1, ' ')), std::invalid_argument);
  EXPECT_THROW(read_own_projection(std::string("-- projection: a\0", 17)), std::invalid_argument);
  // Each of many places would become a long text.
  std::string text =
      kWritten + "-- fragment: a\n" + std::string(100'000, 'x') + "\n-- fold\nSELECT ";
  for (int i = 0; i < 10'000; ++i) text += "{{a}}";
  EXPECT_THROW(read_own_projection(text), std::invalid_argument);
  std::string columns(100'000, '(');
  EXPECT_THROW(read_own_columns({.name = "a", .definition = columns}), std::invalid_argument);
  EXPECT_THROW(read_own_columns({.name = "a", .definition = "a " + std::string(100'000, 'x')}),
               std::invalid_argument);
}

TEST(OwnColumns, keep_types_and_the_key) {
  const OwnColumns columns = read_own_columns(
      {.name = "a",
       .definition =
           "day date NOT NULL,\n  at timestamp with time zone, n numeric(10, 2) not null, "
           "tags text[], PRIMARY KEY (day, n)"});
  EXPECT_EQ(
      columns.definition(),
      "day date NOT NULL, at timestamp with time zone, n numeric(10, 2) NOT NULL, tags text[], "
      "PRIMARY KEY (day, n)");
  EXPECT_EQ(columns.values().size(), 2U);
}

}  // namespace
}  // namespace skua::consumers::own_projection_test
