#include "tables/collection_ids.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/postgres.hpp"

namespace skua::tables::collection_ids_test {
namespace {

class CollectionIdsTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  std::vector<std::int32_t> ids_of(std::vector<std::string_view> nsids) {
    return ids_.ids_of(session(), nsids);
  }
  CollectionIds ids_;
};

TEST_F(CollectionIdsTest, typed_ones_are_fixed_and_others_start_at_1000) {
  EXPECT_EQ(ids_of({"app.bsky.labeler.service", "app.bsky.feed.post"}),
            (std::vector<std::int32_t>{19, 1}));
  EXPECT_EQ(ids_of({"com.example.a", "app.bsky.feed.post", "com.example.a"}),
            (std::vector<std::int32_t>{1000, 1, 1000}));
  EXPECT_TRUE(ids_of({}).empty());
}

TEST_F(CollectionIdsTest, an_id_is_the_same_for_another_process) {
  const auto mine = ids_of({"com.example.a"});
  CollectionIds others;
  EXPECT_EQ(others.ids_of(session(), std::vector<std::string_view>{"com.example.a"}), mine);
}

TEST_F(CollectionIdsTest, what_is_known_needs_no_database) {
  const auto ids = ids_of({"com.example.a"});
  session().run("DROP TABLE bsky.collections CASCADE");
  EXPECT_EQ(ids_of({"com.example.a"}), ids);
}

TEST_F(CollectionIdsTest, a_small_memory_stays_right) {
  CollectionIds small(2);
  std::vector<std::string> names;
  for (int i = 0; i < 10; ++i) names.push_back("com.example.n" + std::to_string(i));
  std::vector<std::int32_t> first;
  for (int round = 0; round < 2; ++round) {
    std::vector<std::int32_t> ids;
    for (const auto& name : names) {
      ids.push_back(small.ids_of(session(), std::vector<std::string_view>{name})[0]);
    }
    if (round == 0) first = ids;
    EXPECT_EQ(ids, first);
  }
  EXPECT_EQ(std::set<std::int32_t>(first.begin(), first.end()).size(), 10U);
}

TEST_F(CollectionIdsTest, an_error_leaves_nothing_remembered) {
  session().begin();
  EXPECT_THROW(session().run("SELECT 1/0"), postgres::DataError);
  EXPECT_THROW(ids_of({"com.example.a"}), postgres::ServerError);
  session().rollback();
  EXPECT_EQ(ids_of({"com.example.a"}).at(0), 1000);
}

TEST_F(CollectionIdsTest, threads_agree) {
  const std::string url = database_.url();
  std::vector<std::vector<std::int32_t>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&] {
      postgres::Session own(url, "thread");
      for (int i = 0; i < 30; ++i) {
        const std::string name = "com.example.t" + std::to_string(i);
        result.push_back(ids_.ids_of(own, std::vector<std::string_view>{name})[0]);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, results[0]);
  EXPECT_EQ(value("SELECT count(*) FROM bsky.collections WHERE id >= 1000"), "30");
}

}  // namespace
}  // namespace skua::tables::collection_ids_test
