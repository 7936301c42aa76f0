#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/account_number.hpp"
#include "consumers/consumer_judgement.hpp"
#include "consumers/consumer_pool.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/fold_step.hpp"
#include "consumers/made_changes.hpp"
#include "consumers/projection_upkeep.hpp"
#include "consumers/projections/projection_tables.hpp"
#include "support/postgres.hpp"
#include "support/projections.hpp"

// One consumer is broken: others continue, the process continues, and the reason is shown.

namespace skua::consumers::broken_consumers_test {
namespace {

using testing::HasSubstr;
using Level = ConsumerJudgement::Level;

const std::string kQuick =
    R"({"pause_ms": 0, "batch": 4, "retry_ms": 3600000, "max_retry_ms": 3600000})";

class BrokenConsumersTest : public ChangesTest {
 protected:
  void add(const std::string& name, const std::string& policy = "pause",
           const std::string& overrides = kQuick) {
    add_consumer(session(), {.name = name, .policy = policy, .overrides = overrides});
    test::maintain_projections(session());
  }
  std::string id_of(const std::string& name, const std::string& role = "live") {
    return value("SELECT id FROM skua.consumers WHERE name = '" + name + "' AND role = '" + role +
                 "'");
  }
  Consumer consumer(const std::string& name) {
    for (Consumer& one : read_consumers(session())) {
      if (one.name != name) continue;
      // As if a process ran.
      one.is_served = true;
      return std::move(one);
    }
    return {};
  }
  ConsumerJudgement judgement(const std::string& name = "post_stats") {
    return judge_consumer(consumer(name));
  }
  void rename_likes(const std::string& role = "live") {
    session().run(
        fmt::format("ALTER TABLE skua.post_stats_{} RENAME likes TO x", id_of("post_stats", role)));
  }
  /// Each change of this table fails.
  void refuse(const std::string& table, const std::string& sqlstate) {
    session().run(fmt::format(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION "
        "'refused' USING ERRCODE = '{}'; END $$; CREATE TRIGGER refuse BEFORE INSERT ON skua.{} "
        "FOR EACH ROW EXECUTE FUNCTION refuse()",
        sqlstate, table));
  }
  /// Applies changes until a query returns true. The waits after failures are a millisecond long.
  void fold_until(const std::string& query) {
    for (int i = 0; i < 2'000 && value(query) != "t"; ++i) {
      test::fold_changes(session());
      session().run("SELECT pg_sleep(0.002)");
    }
    EXPECT_EQ(value(query), "t") << query;
  }
  /// People see all changes of the other consumer.
  std::string posts_counted() {
    return value(
        "SELECT count(*) FROM skua.consumer_lanes AS l JOIN skua.consumers AS c ON c.id = "
        "l.consumer_id WHERE c.name = 'actor_stats' AND l.pos = skua.change_log_end()");
  }
};

TEST_F(BrokenConsumersTest, a_column_that_is_missing_halts_its_consumer_and_a_rebuild_cures_it) {
  for (const char* policy : {"pause", "skip", "block_lane"}) {
    SCOPED_TRACE(policy);
    add("post_stats", policy);
    add("actor_stats");
    rename_likes();
    like(1);
    like(2);
    test::fold_changes(session());
    EXPECT_EQ(posts_counted(), "1") << "the other consumer has all changes";
    EXPECT_EQ(state(), "live running");
    EXPECT_EQ(
        value("SELECT cause || ' ' || attempts FROM skua.consumer_lanes WHERE consumer_id = " +
              id_of("post_stats")),
        "tables 1");
    EXPECT_EQ(judgement().level, Level::Stuck);
    EXPECT_EQ(judgement().state, "failing");
    EXPECT_THAT(judgement().reason, HasSubstr("\"likes\""));
    EXPECT_THAT(judgement().cure, HasSubstr("skua consumers rebuild post_stats"));

    rebuild_consumer(session(), "post_stats");
    EXPECT_THAT(judgement().reason, HasSubstr("its tables are built again"));
    test::maintain_projections(session());
    EXPECT_EQ(likes(), "1: 2");
    EXPECT_EQ(judgement().level, Level::Works);
    EXPECT_EQ(value("SELECT count(*) FROM skua.dead_letter"), "0") << "no change was left out";
    for (const char* name : {"post_stats", "actor_stats"}) remove_consumer(session(), name);
    test::maintain_projections(session());
    session().run("TRUNCATE bsky.likes");
  }
}

TEST_F(BrokenConsumersTest, a_consumer_continues_by_itself_when_the_cause_is_gone) {
  add("post_stats", "pause", R"({"pause_ms": 0, "retry_ms": 1, "max_retry_ms": 1})");
  rename_likes();
  like(1);
  test::fold_changes(session(), 1);
  EXPECT_EQ(judgement().state, "failing");
  session().run(
      fmt::format("ALTER TABLE skua.post_stats_{} RENAME x TO likes", id_of("post_stats")));
  session().run("SELECT pg_sleep(0.01)");
  test::fold_changes(session());
  EXPECT_EQ(likes(), "1: 1");
  EXPECT_EQ(judgement().state, "running");
}

class BrokenBySqlstate : public BrokenConsumersTest,
                         public testing::WithParamInterface<const char*> {};

TEST_P(BrokenBySqlstate, other_consumers_continue) {
  add("post_stats");
  add("actor_stats");
  refuse("post_stats_" + id_of("post_stats"), GetParam());
  for (AccountNumber account = 1; account <= 9; ++account) like(account);
  test::fold_changes(session());
  EXPECT_EQ(posts_counted(), "1");
  EXPECT_EQ(likes(), "");
  EXPECT_THAT(judgement().reason, HasSubstr("refused")) << "the list shows it at once";
  EXPECT_EQ(value("SELECT failing_since IS NOT NULL FROM skua.consumer_lanes WHERE consumer_id = " +
                  id_of("post_stats")),
            "t");
}

INSTANTIATE_TEST_SUITE_P(All, BrokenBySqlstate,
                         testing::Values("42501", "21000", "55000", "55P03", "57014", "XX001",
                                         "40P01", "P0001", "0A000"),
                         [](const auto& given) { return std::string(given.param); });

const std::string kTwoAttempts =
    R"({"pause_ms": 0, "batch": 4, "max_attempts": 2, "retry_ms": 1, "max_retry_ms": 1})";

TEST_F(BrokenConsumersTest, the_policy_pause_stops_a_projection_with_broken_tables) {
  add("post_stats", "pause", kTwoAttempts);
  add("actor_stats");
  rename_likes();
  const std::int64_t first = like(1);
  like(2);
  fold_until("SELECT state = 'stopped' FROM skua.consumers WHERE name = 'post_stats'");
  EXPECT_EQ(state(), "live stopped");
  EXPECT_EQ(posts_counted(), "1");
  EXPECT_THAT(judgement().reason, HasSubstr("\"likes\""));
  EXPECT_THAT(judgement().cure,
              HasSubstr(fmt::format("`skua consumers reset post_stats --skip {}`", first)));
  EXPECT_THAT(judgement().cure, HasSubstr("`skua consumers rebuild post_stats`"));
  session().run(
      fmt::format("ALTER TABLE skua.post_stats_{} RENAME x TO likes", id_of("post_stats")));
  reset_consumer(session(), "post_stats");
  test::fold_changes(session());
  EXPECT_EQ(likes(), "1: 2");
}

TEST_F(BrokenConsumersTest, the_policy_block_lane_stops_a_lane_with_broken_tables) {
  add("post_stats", "block_lane", kTwoAttempts);
  rename_likes();
  like(1);
  fold_until("SELECT is_blocked FROM skua.consumer_lanes");
  EXPECT_EQ(state(), "live running");
  EXPECT_EQ(judgement().state, "blocked");
  rebuild_consumer(session(), "post_stats");
  EXPECT_THAT(judgement().reason, HasSubstr("its tables are built again"));
  test::maintain_projections(session());
  EXPECT_EQ(likes(), "1: 1");
  EXPECT_EQ(judgement().level, Level::Works);
}

TEST_F(BrokenConsumersTest, the_policy_skip_turns_changes_into_letters_while_tables_are_broken) {
  add("post_stats", "skip", kTwoAttempts);
  rename_likes();
  like(1);
  like(2);
  fold_until("SELECT pos = skua.change_log_end() FROM skua.consumer_lanes");
  EXPECT_EQ(value("SELECT count(*) FROM skua.dead_letter WHERE status = 'dead'"), "2");
  EXPECT_EQ(consumer("post_stats").letters, 2);
  rebuild_consumer(session(), "post_stats");
  test::maintain_projections(session());
  EXPECT_EQ(likes(), "1: 2") << "the new tables have the changes of the letters";
}

TEST_F(BrokenConsumersTest,
       a_lane_is_blocked_if_there_is_no_room_for_the_letters_of_broken_tables) {
  add("post_stats", "skip", kTwoAttempts);
  rename_likes();
  for (int post = 1; post <= 101; ++post) like(1, post);
  fold_until("SELECT is_blocked FROM skua.consumer_lanes");
  EXPECT_EQ(value("SELECT pos || ' ' || (SELECT count(*) FROM skua.dead_letter) FROM "
                  "skua.consumer_lanes"),
            "101 100");
}

TEST_F(BrokenConsumersTest, work_of_a_queue_that_fails_stops_its_consumer_under_the_policy_pause) {
  add("post_rules", "pause", kTwoAttempts);
  const std::string id = id_of("post_rules");
  session().run("DROP TABLE skua.post_rules_queue_" + id + " CASCADE");
  like(1);
  session().run("UPDATE skua.consumer_lanes SET waiting_pos = 1");
  fold_until("SELECT state = 'stopped' FROM skua.consumers");
  EXPECT_THAT(judgement("post_rules").reason, HasSubstr("the work of earlier changes failed"));
  EXPECT_THAT(judgement("post_rules").cure, testing::Not(HasSubstr("--skip")));
  rebuild_consumer(session(), "post_rules");
  test::maintain_projections(session());
  EXPECT_EQ(judgement("post_rules").level, Level::Works);
}

TEST_F(BrokenConsumersTest, a_table_that_was_dropped_with_its_view_is_built_again) {
  add("post_stats");
  add("actor_stats");
  session().run(fmt::format("DROP TABLE skua.post_stats_{} CASCADE", id_of("post_stats")));
  like(1);
  test::fold_changes(session());
  EXPECT_EQ(posts_counted(), "1");
  EXPECT_EQ(judgement().state, "failing");
  rebuild_consumer(session(), "post_stats");
  test::maintain_projections(session());
  EXPECT_EQ(likes(), "1: 1");
  EXPECT_EQ(judgement().level, Level::Works);

  session().run(fmt::format("DROP TABLE skua.post_stats_{} CASCADE", id_of("post_stats")));
  remove_consumer(session(), "post_stats");
  test::maintain_projections(session());
  EXPECT_EQ(state(), "none");
  EXPECT_THAT(restore_views(session()), testing::ElementsAre("bsky.post_stats"));
  EXPECT_THAT(restore_views(session()), testing::IsEmpty());
  EXPECT_EQ(likes(), "");
  add("post_stats");
  EXPECT_EQ(likes(), "1: 1");
}

TEST_F(BrokenConsumersTest, a_right_that_was_revoked_halts_its_consumer_until_it_is_granted) {
  add("post_stats");
  add("actor_stats");
  const std::string table = "skua.post_stats_" + id_of("post_stats");
  session().run("REVOKE ALL ON " + table + " FROM skua_writer");
  like(1);
  postgres::Session writer(database_.url(), "writer");
  writer.run("SET ROLE skua_writer");
  test::fold_changes(writer);
  EXPECT_EQ(posts_counted(), "1");
  EXPECT_THAT(judgement().reason, HasSubstr("permission denied"));
  EXPECT_THAT(judgement().cure, HasSubstr("`skua consumers resume post_stats`"));
  session().run("GRANT SELECT, INSERT, UPDATE, DELETE ON " + table + " TO skua_writer");
  resume_consumer(session(), "post_stats");
  test::fold_changes(writer);
  EXPECT_EQ(likes(), "1: 1");
  EXPECT_EQ(judgement().level, Level::Works);
}

TEST_F(BrokenConsumersTest, a_build_that_fails_delays_no_other_build) {
  const std::string next = value("SELECT last_value + is_called::int FROM skua.consumers_id_seq");
  session().run("CREATE TABLE skua.post_stats_" + next + " ()");
  add_consumer(session(), {.name = "post_stats", .overrides = kQuick});
  add_consumer(session(), {.name = "actor_stats", .overrides = kQuick});
  test::maintain_projections(session());
  EXPECT_EQ(state("actor_stats"), "live running");
  EXPECT_EQ(judgement().level, Level::Stuck);
  EXPECT_THAT(judgement().reason, HasSubstr("already exists"));
  session().run("DROP TABLE skua.post_stats_" + next);
  session().run("UPDATE skua.consumers SET retry_at = NULL");
  test::maintain_projections(session());
  EXPECT_EQ(judgement().state, "running");
  EXPECT_EQ(value("SELECT count(*) FROM skua.consumers WHERE error IS NOT NULL"), "0");
}

TEST_F(BrokenConsumersTest, an_exchange_that_fails_delays_no_other_exchange) {
  add_consumer(session(), {.name = "post_stats", .overrides = kQuick});
  add_consumer(session(), {.name = "actor_stats", .overrides = kQuick});
  ConsumerMetrics metrics;
  while (build_projection(session(), metrics)) {
  }
  rename_likes("next");
  while (exchange_projection(session())) {
  }
  EXPECT_EQ(state(), "next running");
  EXPECT_EQ(state("actor_stats"), "live running");
  EXPECT_EQ(judgement().level, Level::Stuck);
  EXPECT_THAT(judgement().reason, HasSubstr("its new tables do not replace the present ones"));
}

TEST_F(BrokenConsumersTest, a_drop_that_fails_delays_no_other_drop) {
  add("post_stats");
  add("actor_stats");
  session().run("CREATE VIEW other AS SELECT * FROM skua.post_stats_" + id_of("post_stats"));
  remove_consumer(session(), "post_stats");
  remove_consumer(session(), "actor_stats");
  test::maintain_projections(session());
  EXPECT_EQ(state("actor_stats"), "none");
  EXPECT_EQ(state(), "retired running");
  session().run("DROP VIEW other; UPDATE skua.consumers SET retry_at = NULL");
  test::maintain_projections(session());
  EXPECT_EQ(state(), "none");
}

TEST_F(BrokenConsumersTest, a_view_of_a_user_keeps_former_tables_and_delays_nothing) {
  add("post_rules");
  add("post_stats");
  session().run("CREATE VIEW mine AS SELECT * FROM skua.post_rules_turns_" + id_of("post_rules"));
  session().run("CREATE VIEW \"Of it\" AS SELECT * FROM mine");
  rebuild_consumer(session(), "post_rules");
  remove_consumer(session(), "post_stats");
  test::maintain_projections(session());
  EXPECT_EQ(state("post_rules"), "live running, retired running");
  EXPECT_EQ(state("post_stats"), "none") << "its tables are dropped";
  ConsumerMetrics metrics;
  EXPECT_TRUE(check_projection(session(), "post_rules", 10, metrics));
  EXPECT_EQ(judgement("post_rules").level, Level::Works);

  const Consumer kept = read_all_consumers(session()).back();
  EXPECT_EQ(kept.role, "retired");
  const ConsumerJudgement shown = judge_consumer(kept);
  EXPECT_EQ(shown.problem->code, "former-tables");
  EXPECT_THAT(shown.reason, HasSubstr("its former tables are not dropped"));
  EXPECT_THAT(shown.cure, HasSubstr("`drop view public.\"Of it\", public.mine`"));
  session().run(kept.dependents);
  resume_consumer(session(), "post_rules");
  test::maintain_projections(session());
  EXPECT_EQ(state("post_rules"), "live running");
  EXPECT_EQ(read_all_consumers(session()).size(), 1U);
}

TEST_F(BrokenConsumersTest, the_number_of_lanes_that_are_processed_at_the_same_time_is_limited) {
  add_consumer(session(), {.name = "post_stats",
                           .lanes = std::int16_t{2},
                           .overrides = R"({"pause_ms": 0, "processors": 1})"});
  add("actor_stats");
  test::maintain_projections(session());
  like(1, 1);
  like(1, 2);
  postgres::Session other(database_.url(), "other");
  postgres::Transaction works(other);
  other.run(fmt::format("SELECT pg_advisory_xact_lock(1936422152, {} * 64)", id_of("post_stats")));
  test::fold_changes(session());
  EXPECT_EQ(posts_counted(), "1") << "others continue";
  EXPECT_EQ(likes(), "");
  works.commit();
  test::fold_changes(session());
  EXPECT_EQ(likes(), "1: 1, 2: 1");
}

TEST_F(BrokenConsumersTest, a_check_that_fails_is_shown_until_one_succeeds) {
  add("post_stats");
  add("actor_stats");
  rename_likes();
  ConsumerMetrics metrics;
  check_consumer(session(), consumer("post_stats"), 10, metrics);
  EXPECT_EQ(judgement().level, Level::Stuck);
  EXPECT_THAT(judgement().reason, HasSubstr("cannot be compared with the records"));
  EXPECT_EQ(judgement("actor_stats").level, Level::Works);
  session().run(
      fmt::format("ALTER TABLE skua.post_stats_{} RENAME x TO likes", id_of("post_stats")));
  check_consumer(session(), consumer("post_stats"), 10, metrics);
  EXPECT_EQ(judgement().level, Level::Works);
}

/// post_stats has sums of rows of post_rules. After a rebuild of post_rules, the changes of these
/// rows are unknown.
TEST_F(BrokenConsumersTest, a_rebuild_of_rules_that_cannot_be_read_rebuilds_what_depends_on_them) {
  add("post_rules");
  add("post_stats");
  add("actor_stats");
  session().run(fmt::format("ALTER TABLE skua.post_rules_{} RENAME violates_threadgate TO x",
                            id_of("post_rules")));
  const std::string former = id_of("post_stats");
  rebuild_consumer(session(), "post_rules");
  test::maintain_projections(session());
  EXPECT_EQ(state("post_stats"), "live running, next filling");
  test::maintain_projections(session());
  EXPECT_EQ(state("post_rules"), "live running");
  EXPECT_EQ(state("post_stats"), "live running");
  EXPECT_NE(id_of("post_stats"), former);
  EXPECT_EQ(value("SELECT max(version) FROM skua.consumers WHERE name = 'actor_stats'"), "1");
}

TEST_F(BrokenConsumersTest, rules_that_cannot_be_read_can_be_removed) {
  add("post_rules");
  add("post_stats");
  session().run(fmt::format("ALTER TABLE skua.post_rules_{} RENAME violates_threadgate TO x",
                            id_of("post_rules")));
  remove_consumer(session(), "post_rules");
  EXPECT_EQ(state("post_stats"), "live running, next filling");
  test::maintain_projections(session());
  EXPECT_EQ(state("post_rules"), "none");
}

TEST_F(BrokenConsumersTest, overrides_that_are_not_numbers_do_not_stop_other_consumers) {
  add("post_stats");
  add("actor_stats");
  for (const char* overrides : {R"({"batch": "many"})", R"({"pause_ms": 1e40})", "[1]"}) {
    SCOPED_TRACE(overrides);
    session().run(std::string("UPDATE skua.consumers SET overrides = '") + overrides +
                  "' WHERE name = 'post_stats'");
    like(1, value("SELECT count(*) + 1 FROM bsky.likes").front() - '0');
    test::fold_changes(session());
    EXPECT_EQ(posts_counted(), "1");
  }
}

/// The policy leaves out changes that fail. No change is the cause here.
TEST_F(BrokenConsumersTest, work_of_a_queue_that_fails_leaves_no_changes_out) {
  add("post_rules", "skip");
  const std::string id = id_of("post_rules");
  session().run("INSERT INTO skua.post_rules_turns_" + id + " (account) VALUES (7)");
  session().run("INSERT INTO skua.post_rules_queue_" + id +
                " (account, kind, actor_id, rkey, pos) VALUES (7, 5, 7, 0, 1)");
  session().run("INSERT INTO skua.post_rules_" + id +
                " VALUES (1, 1, 1, 7, 7, 7, true, false, "
                "false, false)");
  session().run("UPDATE skua.consumer_lanes SET waiting_pos = 1");
  refuse("post_rules_due_" + id, "23514");
  for (int i = 0; i < 20; ++i) {
    like(i);
    session().run("UPDATE skua.consumer_lanes SET retry_at = NULL");
    test::fold_changes(session());
  }
  EXPECT_EQ(value("SELECT count(*) FROM skua.dead_letter"), "0");
  EXPECT_EQ(value("SELECT cause || ' ' || failures FROM skua.consumer_lanes"), "tables 20");
  EXPECT_EQ(judgement("post_rules").level, Level::Stuck);
}

TEST_F(BrokenConsumersTest, a_pool_with_a_broken_consumer_runs_and_a_rebuild_cures_it) {
  add("post_stats");
  add("actor_stats");
  rename_likes();
  std::atomic<bool> has_ended = false;
  postgres::Runtime runtime(database_.url(), system_clock(),
                            [&](const std::string&) { has_ended = true; });
  ConsumerPool pool(runtime, {.threads = 1,
                              .upkeep_interval = std::chrono::milliseconds(5),
                              .check_interval = std::chrono::milliseconds(5)});
  pool.start();
  like(1);
  const auto eventually = [&](const std::string& sql) {
    for (int i = 0; i < 1'000 && value(sql) != "t"; ++i) session().run("SELECT pg_sleep(0.01)");
    return value(sql);
  };
  EXPECT_EQ(eventually("SELECT bool_or(cause = 'tables') FROM skua.consumer_lanes"), "t");
  EXPECT_EQ(eventually("SELECT l.pos = skua.change_log_end() FROM skua.consumer_lanes AS l JOIN "
                       "skua.consumers AS c ON c.id = l.consumer_id WHERE c.name = 'actor_stats'"),
            "t");
  rebuild_consumer(session(), "post_stats");
  EXPECT_EQ(eventually("SELECT EXISTS (SELECT FROM bsky.post_stats)"), "t");
  pool.stop();
  EXPECT_FALSE(has_ended);
}

}  // namespace
}  // namespace skua::consumers::broken_consumers_test
