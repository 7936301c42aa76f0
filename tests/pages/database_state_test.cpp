#include <chrono>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "consumers/consumer_table.hpp"
#include "consumers/tuning.hpp"
#include "pages/database_page.hpp"
#include "support/postgres.hpp"

namespace skua::pages::database_state_test {
namespace {

using namespace std::chrono_literals;

class DatabaseStateTest : public testing::Test {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }
  postgres::Session& session() {
    if (!session_) session_ = std::make_unique<postgres::Session>(database_.url(), "test");
    return *session_;
  }
  DatabaseState state() { return read_database_state(session()); }
  std::string stuck_reason() {
    const auto stuck = state().stuck_consumers;
    return stuck.size() == 1 ? stuck[0].name + ": " + stuck[0].judgement.reason
                             : std::to_string(stuck.size());
  }
  /// A projection whose tables are built.
  void add_running_consumer() {
    consumers::add_consumer(session(), {.name = "post_stats"});
    session().run(
        "UPDATE skua.consumers SET state = 'running', role = 'live';"
        "INSERT INTO skua.consumer_lanes (consumer_id, lane, pos) SELECT id, 0, 1 FROM "
        "skua.consumers");
    ASSERT_EQ(stuck_reason(), "0");
  }

  test::Database database_;
  std::unique_ptr<postgres::Session> session_;
};

TEST_F(DatabaseStateTest, of_a_new_database_shows_no_problem) {
  const DatabaseState found = state();
  EXPECT_FALSE(found.is_read_only);
  EXPECT_EQ(found.schema_version, postgres::schema().version());
  EXPECT_FALSE(found.bootstrap_is_open);
  EXPECT_EQ(found.dead_letters, 0);
  EXPECT_TRUE(found.stuck_consumers.empty());
  EXPECT_EQ(found.inbox.waiting, 0);
}

TEST_F(DatabaseStateTest, shows_messages_in_the_inbox) {
  session().run("SELECT skua.enqueue('orders', '7', '{}')");
  EXPECT_EQ(state().inbox.waiting, 1);
}

TEST_F(DatabaseStateTest, shows_a_read_only_session) {
  session().run("SET default_transaction_read_only = on");
  EXPECT_TRUE(state().is_read_only);
}

TEST_F(DatabaseStateTest, shows_a_newer_schema) {
  session().run("INSERT INTO skua.migrations (version, name, checksum) VALUES (9999, 'x', 'x')");
  EXPECT_EQ(state().schema_version, 9999);
}

TEST_F(DatabaseStateTest, shows_a_paused_consumer) {
  add_running_consumer();
  consumers::pause_consumer(session(), "post_stats");
  EXPECT_EQ(stuck_reason(), "post_stats: it is paused");
}

TEST_F(DatabaseStateTest, shows_a_stopped_consumer_with_its_error) {
  add_running_consumer();
  session().run("UPDATE skua.consumers SET state = 'stopped', error = 'division by zero'");
  EXPECT_EQ(stuck_reason(), "post_stats: stopped after a failure: division by zero");
}

TEST_F(DatabaseStateTest, shows_a_blocked_lane_and_failures_that_last) {
  add_running_consumer();
  const postgres::Session process(database_.url(), consumers::kProjectionsSession + " pid 1");
  session().run(
      "UPDATE skua.consumer_lanes SET failures = 3, error = 'no answer', failing_since = "
      "clock_timestamp() - interval '100 seconds'");
  EXPECT_EQ(stuck_reason(), "0");
  session().run(
      "UPDATE skua.consumer_lanes SET failing_since = clock_timestamp() - interval '125 seconds'");
  EXPECT_TRUE(
      stuck_reason().starts_with("post_stats: changes cannot be applied: no answer (3 failures"));
  session().run("UPDATE skua.consumer_lanes SET is_blocked = true WHERE lane = 0");
  EXPECT_EQ(stuck_reason(), "post_stats: a failed change blocks lane 0: no answer");
}

TEST_F(DatabaseStateTest, shows_tables_that_cannot_be_dropped) {
  add_running_consumer();
  session().run(
      "CREATE TABLE skua.post_stats_1 (likes int8); CREATE VIEW mine AS SELECT * FROM "
      "skua.post_stats_1; UPDATE skua.consumers SET role = 'retired', error = 'views read them'");
  const DatabaseState found = state();
  EXPECT_TRUE(found.stuck_consumers.empty());
  ASSERT_EQ(found.kept_tables.size(), 1U);
  EXPECT_EQ(found.kept_tables[0].judgement.reason, "views read them");
  EXPECT_TRUE(found.kept_tables[0].judgement.cure.starts_with("Run `drop view public.mine`"));
}

/// One of its rebuild has no metrics of its own.
TEST_F(DatabaseStateTest, has_the_metrics_of_each_consumer_once) {
  const auto running = [&] {
    std::vector<bool> values;
    for (const auto& [metric, labels] : state().consumers) {
      if (metric.info.name == std::string("skua_consumer_running")) {
        values.push_back(std::get<bool>(metric.value));
      }
    }
    return values;
  };
  const postgres::Session process(database_.url(), consumers::kProjectionsSession + " pid 1");
  consumers::add_consumer(session(), {.name = "post_stats"});
  EXPECT_EQ(running(), std::vector{false}) << "its first build";
  session().run("UPDATE skua.consumers SET state = 'stopped', error = 'division by zero'");
  EXPECT_EQ(running(), std::vector{false});
  session().run(
      "UPDATE skua.consumers SET state = 'running', error = NULL, role = 'live'; INSERT INTO "
      "skua.consumer_lanes (consumer_id, lane, pos) SELECT id, 0, 1 FROM skua.consumers");
  consumers::rebuild_consumer(session(), "post_stats");
  EXPECT_EQ(running(), std::vector{true});
}

TEST_F(DatabaseStateTest, can_be_read_by_the_role_of_readers) {
  add_running_consumer();
  session().run("DO $$ BEGIN CREATE ROLE skua_reader; EXCEPTION WHEN duplicate_object THEN END $$");
  session().run("SELECT skua.grant_reader()");
  session().run("SET ROLE skua_reader");
  EXPECT_EQ(state().schema_version, postgres::schema().version());
}

TEST_F(DatabaseStateTest, is_read_again_when_it_is_older_than_requested) {
  session().run("SELECT 1");
  postgres::Runtime runtime(database_.url(), system_clock());
  DatabaseReader cached(runtime, 1h);
  DatabaseReader current(runtime, 0ms);
  cached.start();
  current.start();
  ASSERT_TRUE(cached.get(20s).has_value());
  ASSERT_TRUE(current.get(20s).has_value());
  session().run("INSERT INTO skua.migrations (version, name, checksum) VALUES (9999, 'x', 'x')");
  EXPECT_NE(cached.get(20s)->schema_version, 9999);
  EXPECT_EQ(current.get(20s)->schema_version, 9999);
  EXPECT_EQ(current.unanswered(std::chrono::steady_clock::now()), std::nullopt);
}

TEST_F(DatabaseStateTest, is_unanswered_while_the_read_waits) {
  session().run("SELECT 1");
  postgres::Runtime runtime(database_.url(), system_clock());
  DatabaseReader reader(runtime, 0ms);
  reader.start();
  ASSERT_TRUE(reader.get(20s).has_value());
  postgres::Transaction lock(session());
  session().run("LOCK TABLE skua.migrations IN ACCESS EXCLUSIVE MODE");
  // The last state is still the answer.
  EXPECT_TRUE(reader.get(50ms).has_value());
  EXPECT_GE(reader.unanswered(std::chrono::steady_clock::now()).value_or(0ms), 50ms);
}

}  // namespace
}  // namespace skua::pages::database_state_test
