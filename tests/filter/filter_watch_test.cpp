#include "filter/filter_watch.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "filter/filter_file.hpp"
#include "support/postgres.hpp"

namespace skua::filter::filter_watch_test {
namespace {

using testing::ElementsAre;

const std::string kPost = "app.bsky.feed.post";
const std::string kLike = "app.bsky.feed.like";

class FilterWatchTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  std::unique_ptr<FilterWatch> watch(std::optional<FilterChoice> choice = std::nullopt) {
    return std::make_unique<FilterWatch>(
        runtime_,
        FilterWatch::Options{.choice = std::move(choice),
                             .files = {[this](const std::string&) { return std::optional(stamp_); },
                                       [this](const std::string&) { return text_; }}},
        current_);
  }
  void store_filter(std::vector<std::string> collections, std::vector<std::string> dids = {}) {
    tables::change_filter(session(), tables::FilterEdit::Set,
                          {std::move(collections), std::move(dids)});
  }
  void write(const std::string& text) {
    text_ = text;
    ++stamp_.modified_ns;
  }
  tables::FilterContent stored() { return tables::load_filter(session())->content(); }
  const tables::FilterContent now() { return current_.get()->content(); }

  postgres::Runtime runtime_{database_.url(), system_clock(),
                             [](const std::string& what) { ADD_FAILURE() << what; }};
  CurrentFilter current_;
  std::string text_;
  FileStamp stamp_{1, 1, 1};
};

TEST_F(FilterWatchTest, goes_by_what_is_stored_and_follows_it) {
  store_filter({kPost});
  const auto watched = watch();
  EXPECT_THAT(now().collections, ElementsAre(kPost));
  int told = 0;
  current_.listen(this, [&] { ++told; });
  watched->look();
  EXPECT_EQ(told, 0);
  const auto before = current_.get();
  store_filter({kLike}, {"did:plc:a"});
  EXPECT_THAT(now().collections, ElementsAre(kPost));
  watched->look();
  EXPECT_EQ(told, 1);
  EXPECT_THAT(now().collections, ElementsAre(kLike));
  EXPECT_THAT(now().dids, ElementsAre("did:plc:a"));
  // A thread that is processing a message keeps the old filter.
  EXPECT_TRUE(before->passes_collection(kPost));
  current_.forget(this);
  store_filter({});
  watched->look();
  EXPECT_EQ(told, 1);
}

TEST_F(FilterWatchTest, sets_the_stored_one_to_what_it_was_told) {
  store_filter({kLike}, {"did:plc:a"});
  const auto watched = watch(FilterChoice{{{kPost}, {}}, std::nullopt});
  EXPECT_EQ(stored(), (tables::FilterContent{{kPost}, {}}));
  EXPECT_EQ(now(), stored());
  // The choice is stored once. Afterwards the stored filter counts.
  store_filter({kLike});
  watched->look();
  EXPECT_THAT(now().collections, ElementsAre(kLike));
}

TEST_F(FilterWatchTest, sets_it_again_when_its_file_changes) {
  write(kPost + "\n");
  const auto watched = watch(FilterChoice{{{"app.bsky.graph.*"}, {}}, "filter.txt"});
  EXPECT_THAT(stored().collections, ElementsAre(kPost, "app.bsky.graph.*"));
  write("posts\n");
  watched->look();
  watched->look();
  EXPECT_THAT(stored().collections, ElementsAre(kPost, "app.bsky.graph.*"));
  const std::string account = "did:plc:" + std::string(24, 'a');
  write(kLike + "\n" + account + "\n");
  watched->look();
  watched->look();
  EXPECT_THAT(stored().collections, ElementsAre(kLike, "app.bsky.graph.*"));
  EXPECT_THAT(now().dids, ElementsAre(account));
}

TEST_F(FilterWatchTest, refuses_a_file_that_is_none_at_the_start) {
  store_filter({kLike});
  write("posts\n");
  EXPECT_THROW(watch(FilterChoice{{}, "filter.txt"}), FilterError);
  EXPECT_THAT(stored().collections, ElementsAre(kLike));
}

TEST_F(FilterWatchTest, marks_what_is_left_to_be_marked) {
  session().run(
      "INSERT INTO skua.repositories (did, state) SELECT 'did:plc:' || i, 'complete' "
      "FROM generate_series(1, 45000) AS i");
  store_filter({kPost});
  const auto watched = watch();
  store_filter({});
  EXPECT_NE(value("SELECT count(*) FROM skua.repositories WHERE state = 'complete'"), "0");
  watched->look();
  EXPECT_EQ(value("SELECT count(*) FROM skua.repositories WHERE state = 'complete'"), "0");
}

TEST_F(FilterWatchTest, that_notices_a_wider_filter_late_has_resyncs_begin_anew) {
  store_filter({kPost});
  const auto watched = watch();
  store_filter({});
  session().run("UPDATE skua.filter_state SET widened_at = widened_at - interval '1 minute'");
  session().run("INSERT INTO skua.repositories (did, state) VALUES ('did:plc:a', 'complete')");
  const std::int64_t version = tables::load_filter_state(session()).version;
  watched->look();
  EXPECT_EQ(tables::load_filter_state(session()).version, version + 1);
  EXPECT_EQ(current_.get()->version(), version + 1);
  EXPECT_EQ(value("SELECT state FROM skua.repositories"), "desynchronized");
  watched->look();
  EXPECT_EQ(tables::load_filter_state(session()).version, version + 1);
}

TEST_F(FilterWatchTest, that_begins_late_has_missed_nothing) {
  store_filter({kPost});
  store_filter({});
  session().run("UPDATE skua.filter_state SET widened_at = widened_at - interval '1 minute'");
  const std::int64_t version = tables::load_filter_state(session()).version;
  watch()->look();
  EXPECT_EQ(tables::load_filter_state(session()).version, version);
}

TEST_F(FilterWatchTest, goes_on_when_the_database_is_back) {
  const auto watched = watch();
  session().run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
      "AND application_name LIKE 'skua filter watch%'");
  store_filter({kPost});
  try {
    watched->look();
  } catch (const postgres::ServerError&) {
    watched->look();
  }
  EXPECT_THAT(now().collections, ElementsAre(kPost));
}

TEST(FilterWords, say_what_passes) {
  EXPECT_EQ(filter_text({}), "all records of all accounts");
  EXPECT_EQ(filter_text({{kPost, "app.bsky.graph.*"}, {"did:plc:a"}}),
            "app.bsky.feed.post, app.bsky.graph.* of 1 account (did:plc:a)");
}

TEST(FilterWords, say_what_changed) {
  EXPECT_EQ(change_text({{{kLike}, {"did:plc:a"}}, {{kLike, kPost}, {"did:plc:b"}}}),
            "+ app.bsky.feed.post, + did:plc:b, - did:plc:a");
  std::vector<std::string> many;
  for (char c = 'a'; c < 'n'; ++c) many.push_back(std::string("did:plc:") + c);
  EXPECT_THAT(change_text({{}, {{}, many}}), testing::EndsWith("+ did:plc:j and 3 more"));
}

}  // namespace
}  // namespace skua::filter::filter_watch_test
