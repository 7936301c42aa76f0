#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/account_number.hpp"
#include "consumers/consumer_pool.hpp"
#include "consumers/consumer_replays.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/fold_step.hpp"
#include "consumers/log_maintenance.hpp"
#include "consumers/made_changes.hpp"
#include "consumers/projection_upkeep.hpp"
#include "consumers/projections/projection.hpp"
#include "support/postgres.hpp"
#include "support/projections.hpp"
#include "tables/dead_letters.hpp"

namespace skua::consumers::consumers_test {
namespace {

const std::string kQuick = R"({"pause_ms": 0, "batch": 4, "retry_ms": 1, "max_retry_ms": 1})";

class ConsumersTest : public ChangesTest {
 protected:
  void add(const std::string& name, std::optional<std::int16_t> lanes = std::nullopt,
           const std::string& policy = "pause", const std::string& overrides = kQuick) {
    add_consumer(session(),
                 {.name = name, .lanes = lanes, .policy = policy, .overrides = overrides});
    test::maintain_projections(session());
  }
  /// Changes of the account 66 cannot be applied: a trigger refuses the count of the post 66.
  void refuse_post_66() {
    session().run(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.rkey = 66 "
        "THEN RAISE EXCEPTION 'refused' USING ERRCODE = '23514'; END IF; RETURN NEW; END $$");
    session().run(
        "DO $$ BEGIN EXECUTE format('CREATE TRIGGER refuse BEFORE INSERT ON "
        "skua.post_stats_%s FOR EACH ROW EXECUTE FUNCTION refuse()', (SELECT id FROM "
        "skua.consumers WHERE name = 'post_stats' AND role = 'live')); END $$");
  }
  std::string letters() {
    return value(
        "SELECT coalesce(string_agg(concat_ws(' ', consumer, lane, pos, status, "
        "operation), ', ' ORDER BY pos), '') FROM skua.dead_letter");
  }
  void request_replays() {
    for (const std::int64_t id : tables::letter_ids(session(), {})) {
      tables::request_replay(session(), id);
    }
  }
};

TEST_F(ConsumersTest, a_build_has_the_records_and_then_follows_the_log) {
  like(1);
  like(2);
  add("post_stats");
  EXPECT_EQ(likes(), "1: 2") << "from the records";
  like(3);
  like(1, 5);
  unlike(2);
  EXPECT_EQ(likes(), "1: 2");
  test::fold_changes(session());
  EXPECT_EQ(likes(), "1: 2, 5: 1");
  std::string others;
  for (const Projection& each : projections()) {
    if (each.name != "post_stats") others += each.name + " is not built\n";
  }
  EXPECT_EQ(test::projection_differences(session()), others);
}

TEST_F(ConsumersTest, the_view_has_no_rows_before_the_build_and_after_the_removal) {
  like(1);
  EXPECT_EQ(likes(), "");
  add("post_stats");
  EXPECT_EQ(likes(), "1: 1");
  remove_consumer(session(), "post_stats");
  EXPECT_EQ(likes(), "");
  EXPECT_EQ(state(), "retired running");
  test::maintain_projections(session());
  EXPECT_EQ(state(), "none");
  EXPECT_EQ(value("SELECT count(*) FROM pg_tables WHERE tablename LIKE 'post_stats%'"), "0");
  add("post_stats");
  EXPECT_EQ(likes(), "1: 1") << "added again";
}

TEST_F(ConsumersTest, what_cannot_be_added_is_refused_with_the_reason) {
  const auto error = [&](const NewConsumer& consumer) -> std::string {
    try {
      add_consumer(session(), consumer);
    } catch (const ConsumerError& refused) {
      return refused.what();
    }
    return "";
  };
  std::string names;
  for (const Projection& each : projections()) names += each.name + ", ";
  EXPECT_EQ(error({.name = "likes"}),
            "there is no projection 'likes': choose " + names + "or give --webhook or --pull");
  EXPECT_EQ(error({.name = "post_stats", .lanes = std::int16_t{3}}),
            "the number of lanes is a power of two up to 64");
  EXPECT_EQ(error({.name = "notifications", .lanes = std::int16_t{2}}),
            "notifications has one lane");
  EXPECT_EQ(error({.name = "post_stats", .profile = "fast"}),
            "there is no profile 'fast': choose default, low_latency, high_throughput, relaxed");
  EXPECT_EQ(error({.name = "post_stats", .policy = "block_key"}),
            "the policy block_key is for webhooks and pull consumers");
  EXPECT_EQ(error({.name = "post_stats"}), "");
  EXPECT_EQ(error({.name = "post_stats"}), "the consumer 'post_stats' exists already");
}

TEST_F(ConsumersTest, a_paused_consumer_reads_nothing_until_it_is_resumed) {
  add("post_stats");
  pause_consumer(session(), "post_stats");
  like(1);
  test::fold_changes(session());
  EXPECT_EQ(likes(), "");
  resume_consumer(session(), "post_stats");
  test::fold_changes(session());
  EXPECT_EQ(likes(), "1: 1");
}

TEST_F(ConsumersTest, a_rebuild_replaces_the_tables_in_one_step) {
  add("post_stats");
  like(1);
  test::fold_changes(session());
  session().run(
      "DO $$ BEGIN EXECUTE format('UPDATE skua.post_stats_%s SET likes = 40', (SELECT id "
      "FROM skua.consumers)); END $$");
  like(2);
  rebuild_consumer(session(), "post_stats");
  rebuild_consumer(session(), "post_stats");
  EXPECT_EQ(state(), "live running, next filling");
  ConsumerMetrics metrics;
  EXPECT_TRUE(build_projection(session(), metrics));
  EXPECT_EQ(likes(), "1: 40") << "the old tables";
  like(3);
  like(4, 5);
  EXPECT_TRUE(exchange_projection(session()));
  EXPECT_EQ(likes(), "1: 3, 5: 1") << "the new tables, with the changes since their build";
  EXPECT_TRUE(drop_retired_projection(session()));
  EXPECT_EQ(state(), "live running");
  EXPECT_EQ(value("SELECT count(*) FROM pg_tables WHERE tablename LIKE 'post_stats%'"), "1");
}

TEST_F(ConsumersTest, a_build_that_lagged_out_is_built_again) {
  add("post_stats");
  rebuild_consumer(session(), "post_stats");
  ConsumerMetrics metrics;
  EXPECT_TRUE(build_projection(session(), metrics));
  session().run("UPDATE skua.consumers SET state = 'lagged out' WHERE role = 'next'");
  like(1);
  rebuild_consumer(session(), "post_stats");
  EXPECT_EQ(state(), "live running, next filling, retired lagged out");
  EXPECT_TRUE(build_projection(session(), metrics));
  EXPECT_EQ(metrics.builds.value(), 2U);
  test::maintain_projections(session());
  EXPECT_EQ(state(), "live running");
  EXPECT_EQ(likes(), "1: 1");
}

TEST_F(ConsumersTest, a_session_does_not_repeat_the_build_that_another_one_has_just_ended) {
  add("post_stats");
  const auto build = [&] {
    postgres::Session builder(database_.url(), "builder");
    ConsumerMetrics metrics;
    do {
      build_projection(builder, metrics);
    } while (builder.run("SELECT count(*) FROM skua.consumers WHERE state = 'filling'").int8(0, 0) >
             0);
  };
  for (int round = 0; round < 10; ++round) {
    rebuild_consumer(session(), "post_stats");
    {
      const std::jthread one(build);
      const std::jthread other(build);
    }
    ASSERT_EQ(value("SELECT coalesce(string_agg(error, ', '), '') FROM skua.consumers"), "");
    test::maintain_projections(session());
    ASSERT_EQ(state(), "live running");
  }
}

TEST_F(ConsumersTest, readers_of_the_view_delay_an_exchange_and_do_not_fail_it) {
  add("post_stats");
  like(1);
  rebuild_consumer(session(), "post_stats");
  ConsumerMetrics metrics;
  build_projection(session(), metrics);
  postgres::Session reader(database_.url(), "reader");
  {
    postgres::Transaction reading(reader);
    EXPECT_EQ(reader.run("SELECT count(*) FROM bsky.post_stats").int8(0, 0), 0);
    EXPECT_FALSE(exchange_projection(session()));
    EXPECT_EQ(reader.run("SELECT count(*) FROM bsky.post_stats").int8(0, 0), 0);
  }
  EXPECT_TRUE(exchange_projection(session()));
  EXPECT_EQ(likes(), "1: 1");
}

TEST_F(ConsumersTest, a_build_whose_process_died_after_the_commit_is_continued) {
  add_consumer(session(), {.name = "post_stats", .overrides = kQuick});
  like(1);
  ConsumerMetrics metrics;
  build_projection(session(), metrics);
  session().run("UPDATE skua.consumers SET state = 'filling'");
  EXPECT_TRUE(build_projection(session(), metrics));
  EXPECT_EQ(metrics.builds.value(), 1U) << "the tables exist";
  EXPECT_TRUE(exchange_projection(session()));
  EXPECT_EQ(likes(), "1: 1");
}

TEST_F(ConsumersTest, tables_of_another_version_are_rebuilt) {
  add("post_stats");
  rebuild_old_versions(session());
  EXPECT_EQ(state(), "live running");
  session().run("UPDATE skua.consumers SET version = 0");
  rebuild_old_versions(session());
  EXPECT_EQ(state(), "live running, next filling");
}

TEST_F(ConsumersTest, a_change_that_fails_is_found_by_halving_and_stops_the_consumer) {
  add("post_stats");
  refuse_post_66();
  for (AccountNumber account = 1; account <= 3; ++account) like(account, account);
  const std::int64_t bad = like(9, 66);
  like(4, 4);
  // The retries of the change are a millisecond apart.
  for (int i = 0; i < 100 && state() == "live running"; ++i) {
    test::fold_changes(session());
    session().run("SELECT pg_sleep(0.005)");
  }
  EXPECT_EQ(state(), "live stopped");
  EXPECT_EQ(likes(), "1: 1, 2: 1, 3: 1") << "all before it are applied";
  EXPECT_EQ(value("SELECT pos || ' ' || attempts FROM skua.consumer_lanes"),
            std::to_string(bad) + " 10");
  EXPECT_TRUE(value("SELECT error FROM skua.consumers")
                  .starts_with("the change at position " + std::to_string(bad) + " failed: "));

  const char* const failing =
      "SELECT failing_since IS NOT NULL AND failures >= attempts FROM skua.consumer_lanes";
  EXPECT_EQ(value(failing), "t");

  skip_change(session(), "post_stats", bad);
  EXPECT_EQ(letters(), "post_stats 0 " + std::to_string(bad) + " dead create");
  EXPECT_EQ(value(failing), "f");
  test::fold_changes(session());
  EXPECT_EQ(likes(), "1: 1, 2: 1, 3: 1, 4: 1");
}

TEST_F(ConsumersTest, a_stopped_consumer_continues_when_the_cause_is_gone) {
  add("post_stats");
  refuse_post_66();
  like(9, 66);
  like(4, 4);
  session().run("UPDATE skua.consumer_lanes SET attempts = 9");
  test::fold_changes(session(), 3);
  EXPECT_EQ(state(), "live stopped");
  session().run("DROP FUNCTION refuse CASCADE");
  reset_consumer(session(), "post_stats");
  test::fold_changes(session());
  EXPECT_EQ(likes(), "4: 1, 66: 1");
}

TEST_F(ConsumersTest, the_policy_skip_leaves_the_change_out) {
  add("post_stats", std::nullopt, "skip");
  refuse_post_66();
  like(1, 1);
  like(9, 66);
  like(2, 2);
  for (int i = 0; i < 100 && likes() != "1: 1, 2: 1"; ++i) {
    test::fold_changes(session());
    session().run("SELECT pg_sleep(0.005)");
  }
  EXPECT_EQ(likes(), "1: 1, 2: 1");
  EXPECT_EQ(state(), "live running");
  EXPECT_EQ(letters(), "post_stats 0 2 dead create") << "the change is a dead letter";

  // Its replay fails while the cause is there, and then applies the change once.
  request_replays();
  replay_skipped_changes(session());
  EXPECT_EQ(letters(), "post_stats 0 2 dead create");
  session().run("DROP FUNCTION refuse CASCADE");
  request_replays();
  replay_skipped_changes(session());
  replay_skipped_changes(session());
  EXPECT_EQ(letters(), "post_stats 0 2 resolved create");
  EXPECT_EQ(likes(), "1: 1, 2: 1, 66: 1");
}

TEST_F(ConsumersTest, the_policy_block_lane_stops_the_lane_before_the_change) {
  add("post_stats", std::nullopt, "block_lane");
  refuse_post_66();
  like(1, 1);
  like(9, 66);
  like(2, 2);
  for (int i = 0; i < 100 && value("SELECT is_blocked::text FROM skua.consumer_lanes") == "false";
       ++i) {
    test::fold_changes(session());
    session().run("SELECT pg_sleep(0.005)");
  }
  EXPECT_EQ(likes(), "1: 1");
  EXPECT_EQ(state(), "live running");
  session().run("DROP FUNCTION refuse CASCADE");
  test::fold_changes(session());
  EXPECT_EQ(likes(), "1: 1") << "the lane is blocked";
  reset_consumer(session(), "post_stats");
  test::fold_changes(session());
  EXPECT_EQ(likes(), "1: 1, 2: 1, 66: 1");
  EXPECT_EQ(letters(), "");
}

TEST_F(ConsumersTest, a_skipped_change_is_not_replayed_into_tables_that_were_built_later) {
  add("post_stats", std::nullopt, "skip");
  refuse_post_66();
  like(9, 66);
  for (int i = 0; i < 100 && letters().empty(); ++i) {
    test::fold_changes(session());
    session().run("SELECT pg_sleep(0.005)");
  }
  rebuild_consumer(session(), "post_stats");
  test::maintain_projections(session());
  EXPECT_EQ(likes(), "66: 1");
  // The letter is requested as if its replay had begun before the exchange.
  session().run(
      "UPDATE skua.dead_letter SET status = 'requested', finished_at = NULL, note = NULL");
  replay_skipped_changes(session());
  EXPECT_EQ(letters(), "post_stats 0 1 resolved create");
  EXPECT_EQ(likes(), "66: 1");
}

TEST_F(ConsumersTest, a_rebuild_resolves_the_letters_of_changes_before_it) {
  add("post_stats", std::nullopt, "skip");
  refuse_post_66();
  like(9, 66);
  for (int i = 0; i < 100 && letters().empty(); ++i) {
    test::fold_changes(session());
    session().run("SELECT pg_sleep(0.005)");
  }
  EXPECT_EQ(letters(), "post_stats 0 1 dead create");
  rebuild_consumer(session(), "post_stats");
  ConsumerMetrics metrics;
  EXPECT_TRUE(build_projection(session(), metrics));
  // A change that the new tables skip, too.
  like(8, 66);
  session().run(
      "INSERT INTO skua.dead_letter (consumer, key, error, timeline, pos, lane) VALUES "
      "('post_stats', '1-2', 'refused', 1, 2, 0), ('actor_stats', '1-1', 'refused', 1, 1, 0)");
  EXPECT_EQ(value("SELECT count(*) FROM skua.dead_letter WHERE finished_at IS NULL"), "3");
  EXPECT_TRUE(exchange_projection(session()));
  EXPECT_EQ(value("SELECT string_agg(concat_ws(' ', consumer, pos, status, note), ', ' ORDER BY "
                  "consumer, pos) FROM skua.dead_letter"),
            "actor_stats 1 dead, post_stats 1 resolved the tables were built again after this "
            "change, post_stats 2 dead");
}

TEST_F(ConsumersTest, a_retry_waits_and_another_change_does_not_shorten_the_wait) {
  add("post_stats", std::nullopt, "pause",
      R"({"pause_ms": 0, "batch": 1, "retry_ms": 3600000, "max_retry_ms": 3600000})");
  refuse_post_66();
  like(9, 66);
  test::fold_changes(session());
  like(1, 1);
  test::fold_changes(session());
  EXPECT_EQ(value("SELECT attempts FROM skua.consumer_lanes"), "1");
  EXPECT_EQ(likes(), "");
}

TEST_F(ConsumersTest, attempts_do_not_overflow) {
  add("post_stats");
  refuse_post_66();
  like(9, 66);
  session().run("UPDATE skua.consumer_lanes SET attempts = 40000");
  test::fold_changes(session(), 1);
  EXPECT_EQ(state(), "live stopped");
  EXPECT_EQ(value("SELECT attempts FROM skua.consumer_lanes"), "40001");
}

TEST_F(ConsumersTest, lanes_share_the_changes_and_each_is_applied_once) {
  add("post_stats", 4);
  add("actor_stats", 2);
  for (AccountNumber account = 1; account <= 40; ++account) like(account, account % 7);
  // Each thread is one process: four sessions choose among six lanes.
  std::vector<std::jthread> processes;
  processes.reserve(4);
  for (int i = 0; i < 4; ++i) {
    processes.emplace_back([&] {
      postgres::Session own(database_.url(), "process");
      prepare_fold_session(own);
      test::fold_changes(own);
    });
  }
  processes.clear();
  test::fold_changes(session());
  EXPECT_EQ(likes(), "0: 5, 1: 6, 2: 6, 3: 6, 4: 6, 5: 6, 6: 5");
  ConsumerMetrics metrics;
  EXPECT_EQ(check_projection(session(), "post_stats", std::nullopt, metrics),
            std::vector<std::string>());
}

TEST_F(ConsumersTest, two_sessions_never_work_on_one_lane) {
  add("post_stats");
  like(1);
  postgres::Session other(database_.url(), "other");
  postgres::Transaction working(other);
  other.run("SELECT * FROM skua.consumer_lanes FOR UPDATE");
  test::fold_changes(session());
  EXPECT_EQ(likes(), "");
}

TEST_F(ConsumersTest, a_session_that_refers_to_the_consumer_does_not_delay_its_lanes) {
  add("post_stats");
  like(1);
  postgres::Session other(database_.url(), "other");
  postgres::Transaction reading(other);
  // The lock of a foreign key.
  other.run("SELECT FROM skua.consumers FOR KEY SHARE");
  test::fold_changes(session());
  EXPECT_EQ(likes(), "1: 1");
}

TEST_F(ConsumersTest, no_lane_starves) {
  add("post_stats", std::nullopt, "pause", R"({"pause_ms": 0, "batch": 1})");
  add("actor_stats", std::nullopt, "pause", R"({"pause_ms": 0, "batch": 1})");
  for (AccountNumber account = 1; account <= 10; ++account) like(account);
  test::fold_changes(session(), 10);
  EXPECT_EQ(value("SELECT max(pos) - min(pos) <= 1 FROM skua.consumer_lanes"), "t");
}

TEST_F(ConsumersTest, the_end_of_a_bootstrap_rebuilds) {
  add("post_stats");
  {
    postgres::Transaction bootstrap(session());
    tables::lock_change_log_mode(session());
    session().run(
        "INSERT INTO skua.dropped_indexes (name, relation, definition) VALUES ('x', 'y', 'z')");
    bootstrap.commit();
  }
  session().run(
      "INSERT INTO bsky.likes (actor_id, rkey, rev, indexed_at, cid, subject_actor, "
      "subject_collection, subject_rkey) VALUES (1, 1, 1, now(), '', 7, 1, 1)");
  rebuild_consumer(session(), "post_stats");
  ConsumerMetrics metrics;
  EXPECT_FALSE(build_projection(session(), metrics)) << "not during the bootstrap";
  {
    postgres::Transaction bootstrap(session());
    tables::lock_change_log_mode(session());
    session().run("DELETE FROM skua.dropped_indexes");
    EXPECT_TRUE(tables::end_bootstrap_in_log(session()));
    bootstrap.commit();
  }
  test::fold_changes(session());
  EXPECT_EQ(state(), "live stopped, next filling");
  test::maintain_projections(session());
  EXPECT_EQ(state(), "live running");
  EXPECT_EQ(likes(), "1: 1");
}

TEST_F(ConsumersTest, changes_are_kept_for_a_consumer_up_to_the_size_of_the_log) {
  add("post_stats");
  pause_consumer(session(), "post_stats");
  like(1);
  // The next changes are in the next partition.
  session().run("SELECT skua.make_change_log_partition(2)");
  session().run("UPDATE skua.change_log SET pos = (1 << 24) - 1, at = now() - interval '9 days'");
  like(2);
  session().run("UPDATE skua.consumer_lanes SET pos = (1 << 24) - 1");
  LogMetrics metrics;
  maintain_change_log(session(), metrics);
  EXPECT_EQ(metrics.dropped.value(), 0U) << "the consumer has to read it";
  session().run("UPDATE skua.change_log_state SET max_bytes = 1");
  maintain_change_log(session(), metrics);
  EXPECT_EQ(metrics.dropped.value(), 1U);
  resume_consumer(session(), "post_stats");
  test::fold_changes(session());
  EXPECT_EQ(state(), "live lagged out");
  EXPECT_EQ(value("SELECT error FROM skua.consumers"),
            "the log does not have position 16777215 any more");
  rebuild_consumer(session(), "post_stats");
  test::maintain_projections(session());
  EXPECT_EQ(likes(), "1: 2");
}

TEST_F(ConsumersTest, work_that_waits_is_done_although_the_log_is_empty) {
  add("post_rules");
  // Another node wakes the projection notifications like this.
  session().run("UPDATE skua.consumer_lanes SET waiting_pos = skua.change_log_end()");
  test::fold_changes(session());
  EXPECT_EQ(value("SELECT string_agg(state, ' ') FROM skua.consumers"), "running");
  EXPECT_EQ(value("SELECT waiting_pos IS NULL FROM skua.consumer_lanes"), "t");
}

TEST_F(ConsumersTest, a_check_finds_rows_that_differ) {
  add("post_stats");
  like(1);
  ConsumerMetrics metrics;
  EXPECT_EQ(check_projection(session(), "post_stats", std::nullopt, metrics),
            std::vector<std::string>())
      << "it applies the change first";
  test::fold_changes(session());
  session().run(
      "DO $$ BEGIN EXECUTE format('UPDATE skua.post_stats_%s SET likes = 2', (SELECT id "
      "FROM skua.consumers)); END $$");
  const auto found = check_projection(session(), "post_stats", 10, metrics);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), 1U);
  EXPECT_EQ(metrics.differences.value(), 1U);
}

TEST_F(ConsumersTest, counts_are_null_in_the_views_while_the_projection_is_not_current) {
  session().run("INSERT INTO bsky.actors (did, indexed_at) VALUES ('did:plc:a', now())");
  session().run(
      "INSERT INTO bsky.posts (actor_id, rkey, rev, indexed_at, cid) SELECT id, 1, 1, "
      "now(), '' FROM bsky.actors");
  const auto shown = [&] {
    return value("SELECT coalesce(likes::text, 'null') FROM bsky.posts_view");
  };
  EXPECT_EQ(shown(), "null");
  add("post_stats");
  EXPECT_EQ(shown(), "0");
  pause_consumer(session(), "post_stats");
  like(1);
  EXPECT_EQ(shown(), "0");
  session().run("UPDATE skua.change_log SET at = now() - interval '2 minutes'");
  EXPECT_EQ(shown(), "null");
  EXPECT_EQ(value("SELECT behind FROM skua.consumer_progress('post_stats')"), "1");
}

TEST_F(ConsumersTest, a_pool_builds_and_follows) {
  like(1);
  add_consumer(session(), {.name = "post_stats", .profile = "low_latency"});
  postgres::Runtime runtime(database_.url(), system_clock());
  ConsumerPool pool(runtime, {.upkeep_interval = std::chrono::milliseconds(5)});
  pool.start();
  const auto eventually = [&](const std::string& wanted) {
    for (int i = 0; i < 1'000 && likes() != wanted; ++i) session().run("SELECT pg_sleep(0.01)");
    return likes();
  };
  EXPECT_EQ(eventually("1: 1"), "1: 1");
  like(2);
  EXPECT_EQ(eventually("1: 2"), "1: 2");
  pool.stop();
}

}  // namespace
}  // namespace skua::consumers::consumers_test
