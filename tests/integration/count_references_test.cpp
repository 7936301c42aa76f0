#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/postgres.hpp"
#include "writer/table_writer.hpp"

/// Questions for other references of an account are answered in two ways: by a look-up for each, or
/// from all rows of the account. These tests compare the answers with a count.
namespace skua::writer::count_references_test {
namespace {

constexpr std::int32_t kLikes = 2;
constexpr std::int32_t kFollows = 7;

class CountReferencesTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  /// Fills a table with rows of three accounts. Some subjects occur several times, and some rows
  /// have none.
  void fill(const std::string& table, int rows) {
    const bool is_like = table == "likes";
    std::string sql;
    for (int row = 0; row < rows; ++row) {
      const bool has_subject = !is_like || random_() % 20 != 0;
      sql += fmt::format(
          "INSERT INTO bsky.{0} (actor_id, rkey, rev, indexed_at, cid, subject_actor{1}) VALUES "
          "({2}, {3}, 1, now(), '\\x00', {4}{5});",
          table, is_like ? ", subject_rkey, subject_collection" : "", row % 3 + 1, row,
          has_subject ? std::to_string(1 + random_() % 60) : "NULL",
          !is_like      ? ""
          : has_subject ? fmt::format(", 5, {}", random_() % 4 == 0 ? 6 : 1)
                        : ", NULL, NULL");
    }
    session().run(sql);
  }

  /// A question for each row of the accounts 1 and 2, as after the rows were added.
  std::vector<ReferenceQuestion> questions(const std::string& table, int limit) {
    const bool is_like = table == "likes";
    const postgres::Rows rows = session().run(fmt::format(
        "SELECT actor_id, subject_actor, {} FROM bsky.{} WHERE actor_id < 3 AND subject_actor IS "
        "NOT NULL ORDER BY md5(rkey::text) LIMIT {}",
        is_like ? "subject_collection, subject_rkey, rkey" : "0::int4, 0::int8, rkey", table,
        limit));
    std::vector<ReferenceQuestion> all;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      all.push_back({.actor_id = rows.int8(i, 0),
                     .target = {rows.int8(i, 1), rows.int4(i, 2), rows.int8(i, 3)},
                     .added = 1,
                     .removed = 0,
                     .rkey = rows.int8(i, 4)});
    }
    return all;
  }

  void expect_counts(const std::string& table, std::int32_t collection, int limit) {
    const auto asked = questions(table, limit);
    ASSERT_FALSE(asked.empty());
    const auto numbers = table_of(collection)->count_references(session(), asked);
    ASSERT_EQ(numbers.size(), asked.size());
    std::size_t others = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const ReferenceQuestion& one = asked[i];
      const std::string has_other = value(fmt::format(
          "SELECT EXISTS (SELECT FROM bsky.{} WHERE actor_id = {} AND subject_actor = {}{} AND "
          "rkey <> {})",
          table, one.actor_id, one.target.actor_id,
          collection == kLikes ? fmt::format(" AND subject_collection = {} AND subject_rkey = {}",
                                             one.target.collection_id, one.target.rkey)
                               : "",
          one.rkey));
      EXPECT_EQ(numbers[i], has_other == "t" ? 2 : 1) << table << ' ' << i;
      if (has_other == "t") ++others;
    }
    EXPECT_GT(others, 0U);
    EXPECT_LT(others, asked.size());
  }

  std::mt19937 random_{5};
};

/// The limits of questions: few for each account, so many that all rows are read, and so few beside
/// many rows that reading ends and look-ups follow.
TEST_F(CountReferencesTest, each_answer_is_that_of_a_count) {
  fill("likes", 150);
  for (const int limit : {10, 25, 45, 80, 100}) expect_counts("likes", kLikes, limit);
  fill("follows", 90);
  for (const int limit : {10, 45, 60}) expect_counts("follows", kFollows, limit);
}

TEST_F(CountReferencesTest, a_removed_row_leaves_the_others) {
  session().run(
      "INSERT INTO bsky.likes (actor_id, rkey, rev, indexed_at, cid, subject_actor, subject_rkey, "
      "subject_collection) SELECT 1, i, 1, now(), '\\x00', i / 2, 5, 1 FROM generate_series(2, 61) "
      "AS i WHERE i % 2 = 0 OR i > 40");
  std::vector<ReferenceQuestion> asked;
  for (std::int64_t target = 1; target <= 30; ++target) {
    asked.push_back(
        {.actor_id = 1, .target = {target, 1, 5}, .added = 0, .removed = 1, .rkey = 2 * target});
  }
  const auto numbers = table_of(kLikes)->count_references(session(), asked);
  for (std::size_t i = 0; i < asked.size(); ++i) EXPECT_EQ(numbers[i], i >= 19 ? 1 : 0) << i;
}

}  // namespace
}  // namespace skua::writer::count_references_test
