#include "exports/source.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exports/row_form.hpp"
#include "support/postgres.hpp"

namespace skua::exports::source_test {
namespace {

class SourceTest : public test::PostgresTest {
 protected:
  Source relation(const std::string& name) {
    const auto all = read_relations(session());
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&name](const Relation& each) { return each.name == name; });
    EXPECT_NE(found, all.end()) << name;
    return relation_source(session(), *found);
  }
  std::string lines(const Source& source, Format format, const Selection& selection = {},
                    const std::optional<KeyBounds>& range = std::nullopt) {
    std::string text = head_line(source.columns, format);
    session().copy_out(select_of(source, source.columns, format, selection, range),
                       std::string(copy_options(format)),
                       [&text](std::string_view line) { text += line; });
    return text;
  }
};

/// A row with a value of each form, and a row of nulls.
constexpr const char* kValues =
    "SELECT 1::int8 AS n, 1873456789012345678::int8 AS rkey, 1.5::float8 AS f, true AS b, "
    "timestamptz '2026-01-02 03:04:05.678+00' AS t, E'a \"b\", c\\n\\\\d \\u00e9' AS text, '' AS "
    "empty, ARRAY['x', 'y,\"z\"'] AS list, '{\"a\": [1]}'::jsonb AS j, E'{\"a\":\\n1}'::json AS k, "
    "sha256('') AS cid, '\\x01ff'::bytea AS raw UNION ALL SELECT null, null, null, null, null, "
    "null, "
    "null, null, null, null, null, null";
constexpr const char* kCid = "bafyreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku";

TEST_F(SourceTest, EachTypeAsCsv) {
  const Source source = statement_source(session(), kValues, "test_csv");
  EXPECT_EQ(
      lines(source, Format::Csv),
      std::string("n,rkey,f,b,t,text,empty,list,j,k,cid,raw\n"
                  "1,1873456789012345678,1.5,true,2026-01-02T03:04:05.678+00:00,"
                  "\"a \"\"b\"\", c\n\\d \u00e9\",\"\",\"[\"\"x\"\",\"\"y,\\\"\"z\\\"\"\"\"]\","
                  "\"{\"\"a\"\": [1]}\",\"{\"\"a\"\":\n1}\",") +
          kCid + ",\\x01ff\n,,,,,,,,,,,\n");
}

TEST_F(SourceTest, EachTypeAsJsonLines) {
  const Source source = statement_source(session(), kValues, "test_jsonl");
  EXPECT_EQ(
      lines(source, Format::Jsonl),
      std::string("{\"n\":1,\"rkey\":\"1873456789012345678\",\"f\":1.5,\"b\":true,"
                  "\"t\":\"2026-01-02T03:04:05.678+00:00\",\"text\":\"a \\\"b\\\", c\\n\\\\d "
                  "\u00e9\",\"empty\":\"\",\"list\":[\"x\",\"y,\\\"z\\\"\"],\"j\":{\"a\": [1]},"
                  "\"k\":{\"a\": 1},\"cid\":\"") +
          kCid +
          "\",\"raw\":\"\\\\x01ff\"}\n{\"n\":null,\"rkey\":null,\"f\":null,\"b\":null,\"t\":null,"
          "\"text\":null,\"empty\":null,\"list\":null,\"j\":null,\"k\":null,\"cid\":null,"
          "\"raw\":null}\n");
}

TEST_F(SourceTest, ControlCharactersAndMarksOfCopyStay) {
  const Source source = statement_source(
      session(), "SELECT E'\\x01\\x02\\t' AS a UNION ALL SELECT '\\.' UNION ALL SELECT '\\N'",
      "test_marks");
  EXPECT_EQ(lines(source, Format::Jsonl),
            "{\"a\":\"\\u0001\\u0002\\t\"}\n{\"a\":\"\\\\.\"}\n{\"a\":\"\\\\N\"}\n");
  EXPECT_EQ(lines(source, Format::Csv), "a\n\x01\x02\t\n\"\\.\"\n\\N\n");
}

TEST_F(SourceTest, TheKeyOfTablesAndViews) {
  EXPECT_EQ(relation("likes").key, "actor_id");
  EXPECT_EQ(relation("likes").bounds_from, "bsky.\"likes\"");
  EXPECT_EQ(relation("actors").key, "id");
  EXPECT_EQ(relation("posts_view").key, "actor_id");
  EXPECT_EQ(relation("posts_view").bounds_from, "bsky.actors");
  EXPECT_EQ(relation("actors_view").key, "id");
  EXPECT_EQ(relation("all_records").key, "actor_id");
  EXPECT_EQ(read_bounds(session(), relation("likes")), std::nullopt);
}

TEST_F(SourceTest, TheTimeOfARow) {
  EXPECT_EQ(time_of(relation("posts_view")), "q.sort_at");
  EXPECT_EQ(time_of(relation("likes")), "least(q.created_at, q.indexed_at)");
  EXPECT_EQ(time_of(relation("collections")), std::nullopt);
}

TEST_F(SourceTest, ARangeATimeAndASample) {
  Source source = statement_source(
      session(),
      "SELECT n AS id, timestamptz '2026-01-01' + n * interval '1 day' AS sort_at FROM "
      "generate_series(1::int8, 10000) AS n",
      "test_selection");
  EXPECT_FALSE(set_key(source, "sort_at"));
  EXPECT_FALSE(set_key(source, "none"));
  ASSERT_TRUE(set_key(source, "id"));
  const auto bounds = read_bounds(session(), source);
  ASSERT_TRUE(bounds);
  EXPECT_EQ(bounds->first, 1);
  EXPECT_EQ(bounds->last, 10'000);
  const auto count = [&](const Selection& selection, const std::optional<KeyBounds>& range) {
    const std::string text = lines(source, Format::Csv, selection, range);
    return std::count(text.begin(), text.end(), '\n') - 1;
  };
  EXPECT_EQ(count({}, KeyBounds{5, 14}), 10);
  EXPECT_EQ(count({.since = "2026-01-05T00:00:00Z"}, KeyBounds{1, 10}), 7);
  const auto tenth = count({.millionths = 100'000}, std::nullopt);
  EXPECT_GT(tenth, 800);
  EXPECT_LT(tenth, 1200);
  EXPECT_EQ(count({.millionths = 100'000}, KeyBounds{1, 5000}) +
                count({.millionths = 100'000}, KeyBounds{5001, 10'000}),
            tenth);
  EXPECT_EQ(count({.millionths = 1'000'000}, std::nullopt), 10'000);
}

TEST_F(SourceTest, AStatementIsOneStatement) {
  EXPECT_THROW(
      statement_source(session(), "SELECT 1) AS q; DROP TABLE bsky.posts; SELECT (SELECT 1",
                       "test_several"),
      postgres::SqlError);
  EXPECT_THROW(statement_source(session(), "DELETE FROM bsky.posts RETURNING 1", "test_delete"),
               postgres::SqlError);
}

TEST_F(SourceTest, TheStatementForParquetNamesEachType) {
  const Source source = statement_source(session(), kValues, "test_parquet");
  const std::string statement = parquet_statement(source.columns, "it's.jsonl", "x.parquet");
  for (const char* part :
       {"read_json('it''s.jsonl'", "\"n\": 'BIGINT'", "\"rkey\": 'BIGINT'", "\"f\": 'DOUBLE'",
        "\"b\": 'BOOLEAN'", "\"t\": 'TIMESTAMPTZ'", "\"text\": 'VARCHAR'", "\"list\": 'VARCHAR[]'",
        "\"j\": 'JSON'", "\"cid\": 'VARCHAR'", "TO 'x.parquet'"}) {
    EXPECT_THAT(statement, testing::HasSubstr(part));
  }
}

}  // namespace
}  // namespace skua::exports::source_test
