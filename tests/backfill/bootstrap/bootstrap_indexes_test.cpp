#include "backfill/bootstrap/bootstrap_indexes.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/locks.hpp"
#include "support/postgres.hpp"

namespace skua::backfill::bootstrap_indexes_test {
namespace {

using postgres::Session;
using testing::HasSubstr;

/// Secondary indexes of the schema: a new one is one more here.
constexpr std::size_t kIndexes = 18;

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
  EXPECT_EQ(dropped, kIndexes);
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
  EXPECT_EQ(finish_bootstrap(database_.url(), {3, 64}, {},
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
    const postgres::SourceLock held(run, "relay:a.test");
    EXPECT_THAT(refusal(), HasSubstr("'skua run relay:a.test'"));
    EXPECT_FALSE(bootstrap_is_open(session()));
  }
  EXPECT_EQ(refusal(), "begun");
}

TEST_F(BootstrapIndexesTest, an_open_one_is_gone_on_with_whatever_was_written) {
  EXPECT_EQ(begin_bootstrap(session()), kIndexes);
  session().run(
      "INSERT INTO bsky.likes (rkey, rev, indexed_at, actor_id, cid) VALUES (1, 1, now(), 1, '')");
  EXPECT_EQ(begin_bootstrap(session()), 0U);
  EXPECT_EQ(finish(), kIndexes);
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
    testing::Values(
        Left{"all", "SELECT 1", kIndexes},
        Left{"built_and_asked_for",
             "CREATE INDEX likes_subject ON bsky.likes (subject_actor, subject_rkey, actor_id)",
             kIndexes},
        Left{"broken_off",
             "CREATE INDEX likes_subject ON bsky.likes (subject_actor, subject_rkey, actor_id); "
             "UPDATE pg_index SET indisvalid = false "
             "WHERE indexrelid = 'bsky.likes_subject'::regclass",
             kIndexes},
        Left{"one_built",
             "CREATE INDEX likes_subject ON bsky.likes (subject_actor, subject_rkey, actor_id); "
             "DELETE FROM skua.dropped_indexes WHERE name = 'bsky.likes_subject'",
             kIndexes - 1}),
    [](const auto& test) { return test.param.name; });

TEST_F(BootstrapIndexesTest, a_build_that_fails_leaves_the_others_and_can_be_done_again) {
  const std::string before = indexes();
  begin_bootstrap(session());
  session().run(
      "UPDATE skua.dropped_indexes SET definition = replace(definition, 'subject_rkey', 'nothing') "
      "WHERE name = 'bsky.likes_subject'");
  EXPECT_THROW(finish(1), postgres::DefectError);
  EXPECT_TRUE(bootstrap_is_open(session()));
  session().run(
      "UPDATE skua.dropped_indexes SET definition = replace(definition, 'nothing', 'subject_rkey') "
      "WHERE name = 'bsky.likes_subject'");
  EXPECT_GE(finish(), 1U);
  EXPECT_EQ(indexes(), before);
}

/// A `finish_bootstrap` on a thread of its own, in the way of which something stands.
class BootstrapHeldUp : public BootstrapIndexesTest {
 protected:
  void SetUp() override {
    BootstrapIndexesTest::SetUp();
    before_ = indexes();
    ASSERT_EQ(begin_bootstrap(session()), kIndexes);
    other_ = std::make_unique<Session>(database_.url(), "another");
    other_->begin();
  }

  void start() {
    finishing_ = std::async(std::launch::async, [this] {
      return finish_bootstrap(database_.url(), {3, 64}, stop_.get_token(),
                              [this](const std::string&) { ++built_; });
    });
  }
  /// Until the indexes that nothing stands in the way of are there.
  void wait_for_the_others(std::size_t held_up) {
    while (missing_indexes(session()) > held_up) std::this_thread::yield();
  }
  /// How many of our sessions wait for a lock.
  std::string waiting() {
    return value(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND application_name LIKE 'skua indexes%' AND wait_event_type = 'Lock'");
  }
  void expect_all_there(std::size_t built_here) {
    EXPECT_EQ(finishing_.get(), built_here);
    EXPECT_EQ(built_, built_here);
    EXPECT_EQ(indexes(), before_);
    EXPECT_FALSE(bootstrap_is_open(session()));
  }

  std::string before_;
  std::unique_ptr<Session> other_;
  std::stop_source stop_;
  std::atomic<std::size_t> built_{0};
  std::future<std::size_t> finishing_;
};

TEST_F(BootstrapHeldUp, what_another_process_builds_is_waited_for) {
  other_->run("SELECT FROM skua.dropped_indexes WHERE name = 'bsky.likes_subject' FOR UPDATE");
  start();
  wait_for_the_others(1);
  other_->run("CREATE INDEX likes_subject ON bsky.likes (subject_actor, subject_rkey, actor_id)");
  other_->run("DELETE FROM skua.dropped_indexes WHERE name = 'bsky.likes_subject'");
  EXPECT_EQ(finishing_.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  other_->commit();
  expect_all_there(kIndexes - 1);
}

TEST_F(BootstrapHeldUp, and_built_when_that_one_dies) {
  other_->run("SELECT FROM skua.dropped_indexes WHERE name = 'bsky.likes_subject' FOR UPDATE");
  other_->run("CREATE INDEX likes_subject ON bsky.likes (subject_actor, subject_rkey, actor_id)");
  start();
  wait_for_the_others(1);
  other_.reset();
  expect_all_there(kIndexes);
}

TEST_F(BootstrapHeldUp, a_stop_breaks_builds_off_and_another_call_goes_on) {
  other_->run("LOCK TABLE bsky.likes IN ROW EXCLUSIVE MODE");
  start();
  wait_for_the_others(1);
  while (waiting() != "1") std::this_thread::yield();
  stop_.request_stop();
  EXPECT_EQ(finishing_.get(), kIndexes - 1);
  EXPECT_EQ(missing_indexes(session()), 1U);
  EXPECT_EQ(waiting(), "0");
  other_->rollback();
  EXPECT_EQ(finish(), 1U);
  EXPECT_EQ(indexes(), before_);
}

TEST_F(BootstrapHeldUp, sessions_that_break_are_made_anew) {
  other_->run("LOCK TABLE bsky.likes IN ROW EXCLUSIVE MODE");
  start();
  wait_for_the_others(1);
  while (waiting() != "1") std::this_thread::yield();
  session().run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
      "WHERE datname = current_database() AND application_name LIKE 'skua indexes%'");
  other_->rollback();
  expect_all_there(kIndexes);
}

}  // namespace
}  // namespace skua::backfill::bootstrap_indexes_test
