#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "consumers/consumer_pool.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/fold_step.hpp"
#include "consumers/made_changes.hpp"
#include "consumers/own/own_functions.hpp"
#include "consumers/own/own_projection.hpp"
#include "consumers/own/projection_catalog.hpp"
#include "consumers/own/projection_check.hpp"
#include "consumers/own/slow_projections.hpp"
#include "consumers/projection_upkeep.hpp"
#include "consumers/projections/projection_tables.hpp"
#include "postgres/migrations.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "support/projections.hpp"

// Projections that users add: their life, and their bounds.

namespace skua::consumers::own_projections_test {
namespace {

using tables::ChangeOperation;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kQuick = R"({"pause_ms": 0, "retry_ms": 1, "max_retry_ms": 1})";

/// Likes of each account that wrote the liked post.
const std::string kLiked = R"(-- projection: liked
-- help: Likes of each account
-- lanes: several
-- collections: app.bsky.feed.like
-- internal table: liked_rows
actor_id int8 NOT NULL, rkey int8 NOT NULL, author int8 NOT NULL, PRIMARY KEY (actor_id, rkey)
-- table: liked
author int8 NOT NULL, likes int8 NOT NULL, PRIMARY KEY (author)
-- rows: liked_rows
SELECT l.actor_id, l.rkey, l.subject_actor AS author FROM {keys} AS k JOIN bsky.likes AS l USING (actor_id, rkey)
-- sum: liked
SELECT author, count(*) AS likes FROM {liked_rows} GROUP BY author
)";

/// A projection with its own fill and fold, whose fold is `fold`.
std::string with_fold(const std::string& fold, const std::string& lines = "") {
  return "-- projection: own\n-- help: Made for a test\n" + lines +
         "-- table: own\nid int8 NOT NULL, n int8 NOT NULL, PRIMARY KEY (id)\n"
         "-- fill\nINSERT INTO {own} SELECT subject_actor, count(*) FROM bsky.likes GROUP BY 1\n"
         "-- fold\n" +
         fold + "\n";
}

/// A fold of a batch with changes never ends by itself.
const std::string kEndless =
    "INSERT INTO {own} SELECT c.pos, count(*) FROM skua.changes_between($1::int8, $2::int8) AS c, "
    "generate_series(1, 1e12) AS n GROUP BY 1";

const std::string kDelta =
    "INSERT INTO {own} AS t SELECT r.actor_id, sum(r.delta) FROM skua.references_between($1::int8, "
    "$2::int8) AS r WHERE r.role = 1 GROUP BY 1 ON CONFLICT (id) DO UPDATE SET n = t.n + "
    "EXCLUDED.n";

/// The projection `own` and its table with another name.
std::string named(std::string text, const std::string& name) {
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>("-- projection: own", "-- projection: " + name),
        {"-- table: own", "-- table: " + name},
        {"{own}", "{" + name + "}"}}) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from)) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

class OwnProjectionsTest : public ChangesTest {
 protected:
  void SetUp() override {
    ChangesTest::SetUp();
    if (IsSkipped()) return;
    prepare_fold_session(session());
  }

  ProjectionChange store(const std::string& text) {
    return add_projection(session(), read_own_projection(text));
  }
  /// Returns the reason for which the text is refused; empty if it is stored.
  std::string refusal(const std::string& text) {
    try {
      store(text);
      return "";
    } catch (const std::invalid_argument& error) {
      return error.what();
    } catch (const ConsumerError& error) {
      return error.what();
    }
  }
  void consume(const std::string& name, std::int16_t lanes = 1, const std::string& policy = "pause",
               const std::string& overrides = kQuick) {
    add_consumer(session(),
                 {.name = name, .lanes = lanes, .policy = policy, .overrides = overrides});
    test::maintain_projections(session());
  }
  std::string differences(const std::string& name,
                          std::optional<std::int32_t> keys = std::nullopt) {
    ConsumerMetrics metrics;
    const auto found = check_projection(session(), name, keys, metrics);
    if (!found) return "not built";
    std::string text;
    for (const std::string& one : *found) text += one + "\n";
    return text;
  }
  std::string id_of(const std::string& name, const std::string& role = "live") {
    return value(
        fmt::format("SELECT id FROM skua.consumers WHERE name = '{}' AND role = '{}'", name, role));
  }
  std::string liked() {
    return value(
        "SELECT coalesce(string_agg(author || ': ' || likes, ', ' ORDER BY author), '') FROM "
        "projections.liked");
  }
  std::string recounted() {
    return value(
        "SELECT coalesce(string_agg(author || ': ' || n, ', ' ORDER BY author), '') FROM (SELECT "
        "subject_actor AS author, count(*) AS n FROM bsky.likes GROUP BY 1) AS l");
  }
  void change_like(AccountNumber account, std::int64_t rkey, ChangeOperation operation,
                   std::int64_t subject) {
    postgres::Transaction transaction(session());
    if (operation == ChangeOperation::Create) {
      session().run(fmt::format(
          "INSERT INTO bsky.likes (actor_id, rkey, rev, indexed_at, cid, subject_actor, "
          "subject_collection, subject_rkey) VALUES ({}, {}, 1, now(), '', {}, 1, 1)",
          account, rkey, subject));
    } else if (operation == ChangeOperation::Update) {
      session().run(
          fmt::format("UPDATE bsky.likes SET subject_actor = {} WHERE (actor_id, rkey) = "
                      "({}, {})",
                      subject, account, rkey));
    } else {
      session().run(
          fmt::format("DELETE FROM bsky.likes WHERE (actor_id, rkey) = ({}, {})", account, rkey));
    }
    append(account, 2, rkey, operation);
    transaction.commit();
  }
  void append(AccountNumber account, std::int32_t collection, std::int64_t rkey,
              ChangeOperation operation) {
    tables::Change change{.operation = operation,
                          .actor_id = account,
                          .collection_id = collection,
                          .rkey = rkey,
                          .rev = 1};
    if (operation != ChangeOperation::Delete) change.cid = atproto::Digest{};
    tables::append_changes(session(), {.changes = {change}, .references = {}});
  }
  /// Creates, changes and deletes likes at random.
  void change_at_random(std::mt19937& random, int changes) {
    for (int i = 0; i < changes; ++i) {
      const auto account = static_cast<AccountNumber>(random() % 6 + 1);
      const auto rkey = static_cast<std::int64_t>(random() % 4 + 1);
      const auto subject = static_cast<std::int64_t>(random() % 5 + 1);
      const bool exists =
          value(fmt::format("SELECT count(*) FROM bsky.likes WHERE (actor_id, rkey) = ({}, {})",
                            account, rkey)) == "1";
      if (!exists) {
        change_like(account, rkey, ChangeOperation::Create, subject);
      } else {
        change_like(account, rkey,
                    random() % 2 == 0 ? ChangeOperation::Update : ChangeOperation::Delete, subject);
      }
    }
  }
  std::string last_error(const std::string& name) {
    for (const Consumer& consumer : read_consumers(session())) {
      if (consumer.name != name) continue;
      if (!consumer.error.empty()) return consumer.error;
      for (const ConsumerLane& lane : consumer.lanes) {
        if (!lane.error.empty()) return lane.error;
      }
    }
    return "";
  }
  /// Waits until a condition in SQL holds. Returns whether it does.
  bool eventually(const std::string& sql) {
    for (int i = 0; i < 2'000 && value(sql) != "t"; ++i) session().run("SELECT pg_sleep(0.01)");
    return value(sql) == "t";
  }
  bool is_current(const std::string& name) {
    return value(fmt::format("SELECT l.pos = skua.change_log_end() FROM skua.consumer_lanes AS l "
                             "JOIN skua.consumers AS c ON c.id = l.consumer_id WHERE c.name = '{}'",
                             name)) == "t";
  }
};

TEST_F(OwnProjectionsTest, random_changes_give_the_rows_of_a_recount) {
  std::mt19937 random(71);
  change_at_random(random, 40);
  EXPECT_EQ(store(kLiked), ProjectionChange::Added);
  for (const std::int16_t lanes : {std::int16_t{1}, std::int16_t{4}}) {
    SCOPED_TRACE(lanes);
    consume("liked", lanes);
    EXPECT_EQ(liked(), recounted()) << "the build";
    for (int round = 0; round < 15; ++round) {
      change_at_random(random, static_cast<int>(random() % 20 + 1));
      test::fold_changes(session());
      ASSERT_EQ(liked(), recounted()) << "round " << round;
      if (round % 5 == 2) rebuild_consumer(session(), "liked");
      if (round % 5 == 3) test::maintain_projections(session());
    }
    EXPECT_EQ(differences("liked"), "");
    EXPECT_EQ(differences("liked", 5), "");
    EXPECT_EQ(value("SELECT count(DISTINCT lane) FROM skua.consumer_lanes"), std::to_string(lanes));
    remove_consumer(session(), "liked");
    test::maintain_projections(session());
    EXPECT_EQ(liked(), "") << "the view is empty";
    EXPECT_EQ(
        value("SELECT count(*) FROM pg_proc WHERE pronamespace = 'projections'::regnamespace"),
        "0");
    EXPECT_EQ(
        value("SELECT count(*) FROM pg_class WHERE relnamespace = 'projections'::regnamespace "
              "AND relkind = 'r'"),
        "0");
  }
}

TEST_F(OwnProjectionsTest, a_row_of_sums_without_records_is_not_shown) {
  store(kLiked);
  consume("liked");
  like(1);
  test::fold_changes(session());
  EXPECT_EQ(liked(), "7: 1");
  unlike(1);
  test::fold_changes(session());
  EXPECT_EQ(liked(), "");
  EXPECT_EQ(differences("liked"), "");
}

TEST_F(OwnProjectionsTest, a_difference_is_found) {
  for (AccountNumber account = 1; account <= 3; ++account) like(account);
  store(kLiked);
  consume("liked");
  session().run(fmt::format("UPDATE projections.liked_{} SET likes = 9", id_of("liked")));
  session().run(
      fmt::format("DELETE FROM projections.liked_rows_{} WHERE actor_id = 2", id_of("liked")));
  EXPECT_THAT(differences("liked"), HasSubstr("liked: missing (7,3)"));
  EXPECT_THAT(differences("liked"), HasSubstr("liked_rows: missing (2,1,7)"));
  session().run(fmt::format("UPDATE projections.liked_rows_{} SET author = 8", id_of("liked")));
  session().run("INSERT INTO bsky.actors (did, indexed_at) VALUES ('did:plc:a', now())");
  EXPECT_THAT(differences("liked", 50), HasSubstr("liked_rows: "));
}

TEST_F(OwnProjectionsTest, a_consumer_is_listed_with_the_help_of_its_file) {
  store(kLiked);
  consume("liked");
  const auto consumers = read_consumers(session());
  ASSERT_EQ(consumers.size(), 1U);
  EXPECT_EQ(consumers[0].help, "Likes of each account");
  EXPECT_TRUE(consumers[0].is_own);
  EXPECT_EQ(consumers[0].newest_version, 1);
}

TEST_F(OwnProjectionsTest, a_new_version_serves_after_its_tables_are_built) {
  like(1);
  store(kLiked);
  consume("liked");
  EXPECT_EQ(store(kLiked), ProjectionChange::Unchanged);
  std::string next = kLiked;
  const auto replace = [&](const std::string& from, const std::string& to) {
    next.replace(next.find(from), from.size(), to);
  };
  replace("author int8 NOT NULL, likes int8 NOT NULL", "author int8 NOT NULL, half int8 NOT NULL");
  replace("count(*) AS likes", "sum(2) AS half");
  EXPECT_THAT(refusal(next), HasSubstr("write `-- version: 2`"));
  EXPECT_EQ(store("-- version: 2\n" + next), ProjectionChange::Replaced);
  rebuild_old_versions(session());
  like(2);
  test::fold_changes(session());
  EXPECT_EQ(liked(), "7: 2") << "the former text";
  EXPECT_EQ(state("liked"), "live running, next filling");
  test::maintain_projections(session());
  EXPECT_EQ(value("SELECT half FROM projections.liked"), "4");
  like(3);
  test::fold_changes(session());
  EXPECT_EQ(value("SELECT half FROM projections.liked"), "6");
  EXPECT_THAT(refusal(kLiked), HasSubstr("newer than 1 of the file"));
  EXPECT_EQ(store("-- version: 3\n" + next), ProjectionChange::Replaced);
  EXPECT_EQ(value("SELECT string_agg(version::text, ',' ORDER BY version) FROM skua.projections"),
            "2,3")
      << "version 2 is in use, version 1 is not";
}

TEST_F(OwnProjectionsTest, a_version_that_fails_to_build_is_replaced_by_the_next) {
  like(1);
  store(kLiked);
  consume("liked");
  std::string bad = "-- version: 2\n" + kLiked;
  const std::string author = "l.subject_actor AS author";
  bad.replace(bad.find(author), author.size(), "l.rkey / (l.rkey - l.rkey) AS author");
  store(bad);
  rebuild_old_versions(session());
  test::maintain_projections(session());
  EXPECT_EQ(liked(), "7: 1");
  EXPECT_THAT(value("SELECT error FROM skua.consumers WHERE role = 'next'"),
              HasSubstr("division by zero"));
  store("-- version: 3\n" + kLiked);
  rebuild_old_versions(session());
  test::maintain_projections(session());
  EXPECT_EQ(state("liked"), "live running");
  EXPECT_EQ(value("SELECT version FROM skua.consumers WHERE role = 'live'"), "3");
  EXPECT_EQ(liked(), "7: 1");
}

TEST_F(OwnProjectionsTest, a_projection_in_use_is_not_removed) {
  store(kLiked);
  consume("liked");
  EXPECT_THROW(remove_projection(session(), "liked"), ConsumerError);
  remove_consumer(session(), "liked");
  // Its tables exist still.
  remove_projection(session(), "liked");
  test::maintain_projections(session());
  EXPECT_EQ(state("liked"), "none");
  EXPECT_EQ(value("SELECT count(*) FROM pg_class WHERE relnamespace = 'projections'::regnamespace"),
            "0");
  EXPECT_THROW(add_consumer(session(), {.name = "liked"}), UnknownProjection);
  EXPECT_THROW(remove_projection(session(), "post_stats"), ConsumerError);
}

TEST_F(OwnProjectionsTest, names_of_others_are_refused) {
  std::string text = kLiked;
  text.replace(text.find("projection: liked"), 17, "projection: post_stats");
  EXPECT_THAT(refusal(text), HasSubstr("post_stats is a built-in projection"));
  store(kLiked);
  text = kLiked;
  text.replace(text.find("projection: liked"), 17, "projection: other");
  EXPECT_THAT(refusal(text), HasSubstr("the projection liked has a table liked, too"));
  remove_projection(session(), "liked");
  session().run("CREATE TABLE projections.liked (a int)");
  EXPECT_THAT(refusal(kLiked), HasSubstr("projections.liked exists already"));
}

TEST_F(OwnProjectionsTest, own_statements_are_compared_with_a_second_fill) {
  for (AccountNumber account = 1; account <= 3; ++account) like(account);
  store(with_fold(kDelta));
  consume("own");
  for (AccountNumber account = 4; account <= 6; ++account) like(account);
  test::fold_changes(session());
  EXPECT_EQ(value("SELECT n FROM projections.own"), "6");
  EXPECT_EQ(differences("own"), "");
  session().run(fmt::format("UPDATE projections.own_{} SET n = 5", id_of("own")));
  EXPECT_THAT(differences("own"), HasSubstr("own: missing (7,6)"));
}

TEST_F(OwnProjectionsTest, own_differences_are_used) {
  store(with_fold(kDelta) +
        "-- differences\nSELECT 'row ' || id FROM {own} WHERE n > 1 ORDER BY random() LIMIT $1\n");
  like(1);
  like(2);
  consume("own");
  EXPECT_EQ(differences("own"), "row 7\n");
  EXPECT_EQ(differences("own", 10), "row 7\n");
}

/// Records of a collection without a table, such as of an added lexicon.
TEST_F(OwnProjectionsTest, records_of_an_added_lexicon_are_read) {
  const std::string text = R"(-- projection: moods
-- help: Notes by mood
-- collections: com.example.note
-- internal table: mood_rows
actor_id int8 NOT NULL, rkey int8 NOT NULL, mood text NOT NULL, PRIMARY KEY (actor_id, rkey)
-- table: moods
mood text NOT NULL PRIMARY KEY, notes int4 NOT NULL
-- rows: mood_rows
SELECT r.actor_id, r.rkey, r.record ->> 'mood' AS mood
FROM {keys} AS k JOIN bsky.records AS r USING (actor_id, rkey, collection_id) WHERE r.record ? 'mood'
-- sum: moods
SELECT mood, count(*) AS notes FROM {mood_rows} GROUP BY mood
)";
  EXPECT_THAT(refusal(text), HasSubstr("`skua lexicon add`"));
  session().run("INSERT INTO bsky.collections (id, nsid) VALUES (1001, 'com.example.note')");
  const auto note = [&](std::int64_t rkey, const std::string& mood) {
    postgres::Transaction transaction(session());
    session().run(fmt::format(
        "INSERT INTO bsky.records (actor_id, collection_id, rkey, rev, indexed_at, cid, record) "
        "VALUES (1, 1001, {0}, 1, now(), '', '{{\"mood\": \"{1}\"}}') ON CONFLICT (actor_id, "
        "collection_id, rkey) DO UPDATE SET record = EXCLUDED.record",
        rkey, mood));
    append(1, 1001, rkey, ChangeOperation::Create);
    transaction.commit();
  };
  note(1, "good");
  store(text);
  consume("moods");
  const auto moods = [&] {
    return value(
        "SELECT string_agg(mood || ' ' || notes, ', ' ORDER BY mood) FROM projections.moods");
  };
  EXPECT_EQ(moods(), "good 1");
  note(2, "good");
  note(3, "bad");
  note(1, "bad");
  test::fold_changes(session());
  EXPECT_EQ(moods(), "bad 2, good 1");
  EXPECT_EQ(differences("moods"), "");
  EXPECT_EQ(differences("moods", 5), "");
}

TEST_F(OwnProjectionsTest, a_dry_run_changes_nothing) {
  for (AccountNumber account = 1; account <= 9; ++account) like(account);
  const DryRun run = try_projection(session(), read_own_projection(kLiked), {.records = 6});
  EXPECT_EQ(run.records, 6);
  EXPECT_THAT(run.differences, IsEmpty());
  ASSERT_EQ(run.tables.size(), 2U);
  EXPECT_EQ(run.tables[0].rows, 6);
  ASSERT_EQ(run.steps.size(), 3U);
  EXPECT_GT(run.steps[1].cost, 0);
  EXPECT_EQ(value("SELECT count(*) FROM pg_class WHERE relnamespace = 'projections'::regnamespace"),
            "0");
  EXPECT_EQ(value("SELECT count(*) FROM skua.projections"), "0");
}

/// A file with its own fill and fold: the fill of all records is compared with a second one, and
/// the fold applies the changes of the log.
TEST_F(OwnProjectionsTest, a_dry_run_of_own_statements) {
  for (AccountNumber account = 1; account <= 9; ++account) like(account);
  const std::string lane = " AND r.actor_id & ($4::int4 - 1) = $3::int4";
  std::string in_lanes = kDelta;
  in_lanes.insert(in_lanes.find(" GROUP BY"), lane);
  for (const std::string& text : {with_fold(kDelta), with_fold(in_lanes, "-- lanes: several\n")}) {
    const DryRun run = try_projection(session(), read_own_projection(text), {});
    EXPECT_FALSE(run.records);
    EXPECT_EQ(run.changes, 9);
    EXPECT_THAT(run.differences, IsEmpty());
    ASSERT_EQ(run.steps.size(), 3U);
    EXPECT_EQ(run.steps[0].name + run.steps[1].name + run.steps[2].name, "fillcomparefold");
    EXPECT_THAT(run.steps[0].plan, testing::Contains(HasSubstr("likes")));
    EXPECT_THAT(run.steps[2].plan, testing::Contains(HasSubstr("change_log")));
    EXPECT_GT(run.steps[0].cost, 0);
    EXPECT_GT(run.steps[2].cost, 0);
    ASSERT_EQ(run.tables.size(), 1U);
    EXPECT_EQ(run.tables[0].rows, 1);
  }
  EXPECT_EQ(value("SELECT count(*) FROM pg_class WHERE relnamespace = 'projections'::regnamespace"),
            "0");
  const auto error_of = [&](const std::string& text) -> std::string {
    try {
      try_projection(session(), read_own_projection(text), {.timeout = std::chrono::seconds(1)});
      return "";
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
  // Only the fold of real changes shows these.
  EXPECT_THAT(error_of(with_fold("INSERT INTO {own} SELECT c.pos, 1 / (c.pos - 5) FROM "
                                 "skua.changes_between($1::int8, $2::int8) AS c")),
              testing::AllOf(HasSubstr("fold, plan cost "), HasSubstr("division by zero")));
  EXPECT_THAT(error_of(with_fold(kEndless, "-- batch seconds: 1\n")),
              testing::AllOf(HasSubstr("fold, plan cost "), HasSubstr("statement timeout")));
  std::string text = with_fold(kDelta);
  const std::string fill = "FROM bsky.likes GROUP BY 1";
  text.replace(text.find(fill), fill.size(),
               "FROM bsky.likes, generate_series(1, 1e12) AS n GROUP BY 1");
  EXPECT_THAT(error_of(text),
              testing::AllOf(HasSubstr("fill, plan cost "), HasSubstr("`--timeout`")));
}

TEST_F(OwnProjectionsTest, a_dry_run_finds_sums_that_are_not_additive) {
  for (AccountNumber account = 1; account <= 9; ++account) like(account);
  std::string text = kLiked;
  const std::string sum = "count(*) AS likes";
  text.replace(text.find(sum), sum.size(), "count(*) * count(*) AS likes");
  const DryRun run = try_projection(session(), read_own_projection(text), {});
  EXPECT_THAT(run.differences, Not(IsEmpty()));
}

struct Hostile {
  const char* name;
  /// A fold.
  const char* fold;
  const char* refusal;
};

class HostileFold : public OwnProjectionsTest, public testing::WithParamInterface<Hostile> {};

TEST_P(HostileFold, is_refused_when_it_is_added) {
  session().run(
      "CREATE FUNCTION public.lock_posts() RETURNS int8 LANGUAGE plpgsql AS $$ BEGIN LOCK TABLE "
      "bsky.posts; RETURN 1; END $$");
  session().run("CREATE VIEW projections.own_view AS SELECT 1::int8 AS id");
  EXPECT_THAT(refusal(with_fold(GetParam().fold, "-- batch seconds: 1\n-- batch rows: 1000\n")),
              HasSubstr(GetParam().refusal));
  EXPECT_EQ(value("SELECT count(*) FROM skua.projections"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM pg_class WHERE relnamespace = 'projections'::regnamespace"),
            "1");
  EXPECT_EQ(value("SELECT current_user = session_user"), "t");
  EXPECT_EQ(value("SELECT current_setting('search_path')"), "public");
}

INSTANTIATE_TEST_SUITE_P(
    All, HostileFold,
    testing::Values(
        Hostile{"role", "SELECT set_config('role', 'none', false)", "is volatile"},
        Hostile{"set_role", "SET ROLE none", "unquoted SQL function body"},
        Hostile{"reset", "RESET ROLE", "unquoted SQL function body"},
        Hostile{"path", "INSERT INTO {own} SELECT 1, length(set_config('search_path', 'a', false))",
                "is volatile"},
        Hostile{"sleep", "SELECT pg_sleep(1)", "is volatile"},
        Hostile{"random", "INSERT INTO {own} SELECT 1, (random() * 9)::int8", "is volatile"},
        Hostile{"now", "INSERT INTO {own} SELECT 1, extract(epoch FROM now())::int8",
                "changes with the time"},
        Hostile{"current_time", "INSERT INTO {own} SELECT 1, extract(epoch FROM current_timestamp)",
                "CURRENT_TIMESTAMP"},
        Hostile{"advisory", "SELECT pg_advisory_lock(1)", "is volatile"},
        Hostile{"sequence", "SELECT nextval('bsky.actors_id_seq')", "is volatile"},
        Hostile{"large_object", "SELECT lo_create(0)", "is volatile"},
        Hostile{"superuser", "SELECT pg_read_file('postgresql.conf')", "is volatile"},
        Hostile{"log",
                "SELECT skua.append_changes('{1}', '{1}', '{1}', '{1}', '{1}', '{1}', '{a}', "
                "NULL, '{}', '{}', '{}', '{}', '{}', '{}')",
                "is volatile"},
        Hostile{"log_end", "SELECT skua.change_log_end()", "is not a function of PostgreSQL"},
        Hostile{"lock_by_function", "INSERT INTO {own} SELECT 1, public.lock_posts()",
                "lock_posts"},
        Hostile{"lock", "LOCK TABLE bsky.posts", "unquoted SQL function body"},
        Hostile{"lock_rows", "SELECT 1 FROM bsky.posts FOR UPDATE", "permission denied"},
        Hostile{"other_schema", "DELETE FROM bsky.posts", "permission denied"},
        Hostile{"secrets", "INSERT INTO {own} SELECT consumer_id, 1 FROM skua.consumer_secrets",
                "may not read"},
        Hostile{"consumers", "UPDATE skua.consumer_lanes SET pos = 0", "may not read"},
        Hostile{"own_table", "DROP TABLE {own}", "unquoted SQL function body"},
        Hostile{"alter", "ALTER TABLE {own} DISABLE TRIGGER ALL", "unquoted SQL function body"},
        Hostile{"create", "CREATE TABLE projections.a (b int)", "unquoted SQL function body"},
        Hostile{"copy", "COPY {own} TO PROGRAM 'true'", "unquoted SQL function body"},
        Hostile{"do", "DO 'BEGIN END'", "unquoted SQL function body"},
        Hostile{"several_commands", "SELECT 1; END; DROP TABLE bsky.posts; SELECT 1", "multiple"},
        Hostile{"cycle_of_views", "INSERT INTO {own} SELECT id, 1 FROM projections.own_view",
                "may not read"},
        Hostile{"sample",
                "INSERT INTO {own} SELECT rkey, 1 FROM bsky.likes TABLESAMPLE SYSTEM (10)",
                "TABLESAMPLE"},
        Hostile{"endless", "INSERT INTO {own} SELECT 1, count(*) FROM generate_series(1, 1e12)",
                "statement timeout"},
        Hostile{"explosion", "INSERT INTO {own} SELECT n, 1 FROM generate_series(1, 2000) AS n",
                "more than `-- batch rows: 1000` allows"}),
    [](const auto& given) { return std::string(given.param.name); });

TEST_F(OwnProjectionsTest, sums_that_are_not_counts_are_refused) {
  const auto with_sum = [](const std::string& sum) {
    std::string text = kLiked;
    const std::string former = "SELECT author, count(*) AS likes FROM {liked_rows} GROUP BY author";
    text.replace(text.find(former), former.size(), sum);
    return text;
  };
  EXPECT_THAT(refusal(with_sum("SELECT author, max(rkey) AS likes FROM {liked_rows} GROUP BY 1")),
              HasSubstr("a sum has count and sum"));
  EXPECT_THAT(refusal(with_sum("SELECT author, count(DISTINCT actor_id) AS likes FROM {liked_rows} "
                               "GROUP BY 1")),
              HasSubstr("DISTINCT"));
  EXPECT_THAT(refusal(with_sum("SELECT author, count(*) AS likes FROM {liked_rows} GROUP BY 1 "
                               "HAVING count(*) > 1")),
              HasSubstr("HAVING"));
  EXPECT_THAT(
      refusal(with_sum("SELECT author, count(*) AS likes FROM {liked_rows} GROUP BY 1 LIMIT "
                       "5")),
      HasSubstr("LIMIT"));
  EXPECT_THAT(refusal(with_sum("SELECT author, sum(count(*)) OVER () AS likes FROM {liked_rows} "
                               "GROUP BY 1")),
              HasSubstr("window"));
  EXPECT_THAT(refusal(with_sum("SELECT author, count(*) AS likes FROM {liked_rows}, bsky.posts "
                               "GROUP BY 1")),
              HasSubstr("one table only"));
  EXPECT_THAT(refusal(with_sum("SELECT author FROM {liked_rows}")), HasSubstr("likes"));
}

/// The work for one change takes too long. Others go on.
TEST_F(OwnProjectionsTest, an_endless_statement_ends_at_its_time) {
  store(with_fold(kEndless, "-- batch seconds: 1\n"));
  consume("own", 1, "pause", R"({"pause_ms": 0, "max_attempts": 1})");
  consume("post_stats");
  like(1);
  test::fold_changes(session());
  EXPECT_EQ(state("own"), "live stopped");
  EXPECT_THAT(last_error("own"), HasSubstr("statement timeout"));
  EXPECT_EQ(likes(), "1: 1");
}

TEST_F(OwnProjectionsTest, a_batch_that_multiplies_rows_stops) {
  store(
      with_fold("INSERT INTO {own} SELECT c.pos * 1000 + n, 1 FROM skua.changes_between($1::int8, "
                "$2::int8) AS c, generate_series(1, 200) AS n",
                "-- batch rows: 500\n"));
  consume("own");
  for (AccountNumber account = 1; account <= 8; ++account) like(account);
  test::fold_changes(session());
  EXPECT_TRUE(is_current("own")) << "smaller batches are within the limit";
  std::string text = kLiked;
  text.replace(text.find("{keys} AS k"), 11,
               "{keys} AS k CROSS JOIN generate_series(1, 1000) AS n");
  text = "-- batch rows: 10\n" + text;
  store(text);
  consume("liked", 1, "pause", R"({"pause_ms": 0, "max_attempts": 1})");
  EXPECT_THAT(last_error("liked"), HasSubstr("duplicate key")) << "in the build";
}

TEST_F(OwnProjectionsTest, a_record_that_fails_is_left_out_by_the_policy) {
  std::string text = kLiked;
  const std::string author = "l.subject_actor AS author";
  text.replace(text.find(author), author.size(),
               "l.subject_actor / (l.actor_id - 3) * 0 + l.subject_actor AS author");
  store(text);
  consume("liked", 1, "skip", R"({"pause_ms": 0, "max_attempts": 1, "retry_ms": 1})");
  for (AccountNumber account = 1; account <= 5; ++account) like(account);
  test::fold_changes(session());
  EXPECT_EQ(liked(), "7: 4");
  EXPECT_THAT(value("SELECT error FROM skua.dead_letter"), HasSubstr("division by zero"));
}

/// Two rows of one record have the same key: a mistake of the file that the data shows.
TEST_F(OwnProjectionsTest, two_rows_for_one_key_are_an_error_of_the_change) {
  std::string text = kLiked;
  const std::string end = "USING (actor_id, rkey)";
  text.replace(text.find(end), end.size(),
               end + " JOIN generate_series(1, 2) AS n ON n = 1 OR l.actor_id = 3");
  store(text);
  consume("liked", 1, "skip", R"({"pause_ms": 0, "max_attempts": 1, "retry_ms": 1})");
  for (AccountNumber account = 1; account <= 5; ++account) like(account);
  test::fold_changes(session());
  EXPECT_EQ(value("SELECT count(*) FROM skua.dead_letter"), "1");
  EXPECT_EQ(liked(), "7: 4");
}

/// A function with hostile SQL cannot leave its role, even if the check of statements missed it.
TEST_F(OwnProjectionsTest, the_role_cannot_be_left_within_a_function) {
  store(with_fold(kDelta));
  consume("own");
  consume("post_stats");
  for (const char* escape :
       {"PERFORM set_config(''role'', ''none'', false)", "SET ROLE none", "RESET ROLE",
        "SET SESSION AUTHORIZATION DEFAULT",
        "PERFORM set_config(''session_authorization'', ''postgres'', true)",
        "LOCK TABLE bsky.posts", "DELETE FROM bsky.likes", "UPDATE skua.consumer_lanes SET pos = 0",
        "PERFORM skua.append_changes(''{1}'', ''{1}'', ''{1}'', ''{1}'', ''{1}'', ''{1}'', "
        "''{a}'', "
        "NULL, ''{}'', ''{}'', ''{}'', ''{}'', ''{}'', ''{}'')",
        "PERFORM skua.grant_writer()", "CREATE TABLE bsky.evil (a int)", "DROP TABLE bsky.posts",
        "DROP VIEW projections.own"}) {
    SCOPED_TRACE(escape);
    session().run(fmt::format(
        "CREATE OR REPLACE FUNCTION projections.own_fold1_{}(int8, int8, int4, int4) RETURNS void "
        "LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS 'BEGIN {}; "
        "END'",
        id_of("own"), escape));
    like(1, std::stoll(value("SELECT count(*) + 1 FROM bsky.likes")));
    session().run("UPDATE skua.consumer_lanes SET retry_at = NULL");
    const std::string before = value("SELECT count(*) FROM bsky.likes");
    ConsumerMetrics metrics;
    fold_step(session(), metrics, {.only = "own", .ignores_pause = true});
    EXPECT_THAT(last_error("own"),
                testing::AnyOf(HasSubstr("within security-definer function"),
                               HasSubstr("permission denied"), HasSubstr("must be owner")));
    EXPECT_EQ(value("SELECT current_user = session_user"), "t");
    EXPECT_EQ(value("SELECT count(*) FROM bsky.likes"), before);
    test::fold_changes(session());
    EXPECT_TRUE(is_current("post_stats"));
    EXPECT_FALSE(is_current("own"));
  }
}

/// The functions of skua that the role may execute have no effect with the rights of the owner.
TEST_F(OwnProjectionsTest, the_role_executes_no_function_that_writes_for_it) {
  EXPECT_EQ(
      value("SELECT string_agg(p.oid::regprocedure::text, ', ') FROM pg_proc AS p WHERE "
            "p.pronamespace IN ('skua'::regnamespace, 'bsky'::regnamespace) AND p.prosecdef AND "
            "p.provolatile = 'v' AND has_function_privilege('skua_projection', p.oid, 'EXECUTE')"),
      "");
  EXPECT_EQ(
      value(
          "SELECT string_agg(c.oid::regclass::text, ', ') FROM pg_class AS c WHERE c.relnamespace "
          "IN ('skua'::regnamespace, 'bsky'::regnamespace, 'lexicon'::regnamespace) AND c.relkind "
          "IN ('r', 'p', 'v') AND has_table_privilege('skua_projection', c.oid, 'INSERT, UPDATE, "
          "DELETE, TRUNCATE, REFERENCES, TRIGGER')"),
      "");
  EXPECT_EQ(value("SELECT string_agg(c.relname, ', ' ORDER BY c.relname) FROM pg_class AS c WHERE "
                  "c.relnamespace = 'skua'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND "
                  "has_table_privilege('skua_projection', c.oid, 'SELECT')"),
            "change_log");
}

/// The owner of the schema need not be a superuser. A writer applies batches and compares.
TEST_F(OwnProjectionsTest, a_role_without_rights_of_the_server_builds_them) {
  const std::string suffix = std::to_string(getpid());
  const std::string owner = "own_owner_" + suffix;
  const std::string writer = "own_writer_" + suffix;
  const std::string plain = "own_plain_" + suffix;
  session().run(
      fmt::format("CREATE ROLE {} CREATEROLE; CREATE ROLE {} IN ROLE skua_writer; CREATE "
                  "ROLE {}",
                  owner, writer, plain));
  // From PostgreSQL 16 on, a role that may create roles can grant only those that it created.
  session().run(
      fmt::format("DO $$ BEGIN IF current_setting('server_version_num')::int >= 160000 THEN GRANT "
                  "skua_projection TO {}; END IF; END $$",
                  owner));
  {
    test::Database database(test::Database::Content::empty);
    test::Database other(test::Database::Content::empty);
    for (const auto& [role, name] :
         {std::pair(owner, database.name()), std::pair(plain, other.name())}) {
      session().run(fmt::format("ALTER DATABASE {} OWNER TO {}", name, role));
    }
    postgres::Session as_owner(database.url(), "test");
    as_owner.run("SET SESSION AUTHORIZATION " + owner);
    postgres::migrate(as_owner, postgres::schema());
    add_projection(as_owner, read_own_projection(kLiked));
    add_consumer(as_owner, {.name = "liked", .overrides = kQuick});
    test::maintain_projections(as_owner);
    like(as_owner, 1, 1);
    postgres::Session as_writer(database.url(), "test");
    as_writer.run("SET SESSION AUTHORIZATION " + writer);
    prepare_fold_session(as_writer);
    test::fold_changes(as_writer);
    EXPECT_EQ(as_writer.run("SELECT likes FROM projections.liked").int8(0, 0), 1);
    ConsumerMetrics metrics;
    EXPECT_EQ(check_projection(as_writer, "liked", std::nullopt, metrics),
              std::vector<std::string>());
    EXPECT_THROW(as_writer.run("DELETE FROM skua.projections"), postgres::SqlError);
    EXPECT_THROW(add_projection(as_writer, read_own_projection(kLiked)), ConsumerError);

    postgres::Session as_plain(other.url(), "test");
    as_plain.run("SET SESSION AUTHORIZATION " + plain);
    postgres::migrate(as_plain, postgres::schema());
    try {
      add_projection(as_plain, read_own_projection(kLiked));
      ADD_FAILURE() << "it was added";
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), HasSubstr("a superuser runs GRANT skua_projection TO " + plain));
    }
  }
  session().run(fmt::format("DROP ROLE {}; DROP ROLE {}; DROP ROLE {}", owner, writer, plain));
}

TEST_F(OwnProjectionsTest, a_build_that_writes_elsewhere_fails_alone) {
  std::string text = with_fold(kDelta);
  text.replace(text.find("INSERT INTO {own} SELECT subject"), 32,
               "INSERT INTO bsky.likes SELECT * FROM bsky.likes -- ");
  store(text);
  consume("own");
  consume("post_stats");
  EXPECT_THAT(last_error("own"), HasSubstr("permission denied"));
  EXPECT_EQ(state("post_stats"), "live running");
}

/// One thread of each kind: a statement that takes its whole time delays no built-in projection,
/// and the end of the pool interrupts it.
TEST_F(OwnProjectionsTest, a_slow_projection_delays_no_built_in_one) {
  store(with_fold(kEndless, "-- batch seconds: 60\n"));
  consume("own");
  consume("post_stats");
  std::atomic<bool> has_ended = false;
  postgres::Runtime runtime(database_.url(), system_clock(),
                            [&](const std::string&) { has_ended = true; });
  ConsumerPool pool(runtime, {.threads = 1,
                              .upkeep_interval = std::chrono::milliseconds(5),
                              .check_interval = std::chrono::milliseconds(5)});
  pool.start();
  like(1);
  EXPECT_TRUE(
      eventually("SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() "
                 "AND state = 'active' AND query LIKE '%own_fold1_%' AND pid <> "
                 "pg_backend_pid())"));
  like(2);
  EXPECT_TRUE(eventually("SELECT EXISTS (SELECT FROM bsky.post_stats WHERE likes = 2)"));
  EXPECT_FALSE(is_current("own"));
  const auto begin = std::chrono::steady_clock::now();
  pool.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_FALSE(has_ended);
}

/// Two slow projections are beside a quick one. Steps of the quick workload leave the slow ones
/// after one attempt each; each step of the slow workload ends after the time of their file.
TEST_F(OwnProjectionsTest, slow_projections_leave_the_threads_of_quick_ones) {
  for (const char* name : {"endless", "endless_too"}) {
    store(named(with_fold(kEndless, "-- batch seconds: 2\n"), name));
    consume(name, 1, "pause", R"({"pause_ms": 0, "max_attempts": 1})");
  }
  store(kLiked);
  consume("liked");
  test::ManualClock clock;
  SlowProjections slow(clock, std::chrono::milliseconds(1'000));
  ConsumerMetrics metrics;
  std::vector<std::string> batches;
  const auto step = [&](bool takes_slow) {
    return fold_step(session(), metrics,
                     {.applied = [&](const Batch& batch) { batches.push_back(batch.name); },
                      .workload = {.is_own = true, .slow = {&slow}, .takes_slow = takes_slow}});
  };
  EXPECT_EQ(step(true), StepResult::Idle) << "no projection is slow";
  like(1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(step(false), StepResult::Worked);
  EXPECT_EQ(slow.ids().size(), 2U);
  EXPECT_EQ(batches, std::vector<std::string>{"liked"});
  for (AccountNumber account = 2; account <= 20; ++account) {
    like(account);
    EXPECT_EQ(step(false), StepResult::Worked);
    EXPECT_EQ(step(false), StepResult::Idle);
  }
  EXPECT_EQ(batches, std::vector<std::string>(20, "liked")) << "a batch for each change";
  EXPECT_EQ(liked(), "7: 20");
  EXPECT_EQ(metrics.failures.value(), 0U) << "the attempts of the quick workload are no failures";
  EXPECT_EQ(last_error("endless"), "");

  while (step(true) == StepResult::Worked) {
  }
  for (const char* name : {"endless", "endless_too"}) {
    EXPECT_EQ(state(name), "live stopped");
    EXPECT_THAT(last_error(name), HasSubstr("statement timeout"));
  }
  EXPECT_EQ(batches.size(), 20U);
  clock.advance(std::chrono::hours(1));
  EXPECT_THAT(slow.ids(), IsEmpty());
}

/// The threads of the pool: one for quick projections of users and one for slow ones. A statement
/// of a slow one may take a minute, so the test ends in time only if the threads are not shared.
TEST_F(OwnProjectionsTest, slow_projections_delay_no_other_projection_of_users) {
  for (const char* name : {"endless", "endless_too"}) {
    store(named(with_fold(kEndless, "-- batch seconds: 60\n"), name));
    consume(name);
  }
  store(kLiked);
  consume("liked");
  std::atomic<bool> has_ended = false;
  postgres::Runtime runtime(database_.url(), system_clock(),
                            [&](const std::string&) { has_ended = true; });
  ConsumerPool pool(runtime, {.threads = 1,
                              .upkeep_interval = std::chrono::milliseconds(5),
                              .check_interval = std::chrono::milliseconds(5),
                              .quick_batch = std::chrono::milliseconds(100)});
  pool.start();
  for (AccountNumber account = 1; account <= 20; ++account) {
    like(account);
    ASSERT_TRUE(eventually(
        fmt::format("SELECT coalesce(sum(likes), 0) = {} FROM projections.liked", account)));
  }
  EXPECT_TRUE(eventually(
      "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = "
      "'active' AND application_name LIKE 'skua slow consumers%' AND query LIKE '%endless%')"));
  // A new projection is built and checked, too.
  store(with_fold(kDelta));
  add_consumer(session(), {.name = "own", .overrides = kQuick});
  EXPECT_TRUE(eventually(
      "SELECT EXISTS (SELECT FROM skua.consumers WHERE name = 'own' AND role = 'live')"));
  EXPECT_FALSE(is_current("endless"));
  EXPECT_FALSE(is_current("endless_too"));
  pool.stop();
  EXPECT_FALSE(has_ended);
}

/// A build that takes long leaves the thread that builds others.
TEST_F(OwnProjectionsTest, a_slow_build_is_left_to_the_thread_for_slow_projections) {
  std::string text = named(with_fold(kDelta, "-- build seconds: 1\n"), "endless");
  const std::string fill = "FROM bsky.likes GROUP BY 1";
  text.replace(text.find(fill), fill.size(),
               "FROM bsky.likes, generate_series(1, 1e12) AS n GROUP BY 1");
  like(1);
  store(text);
  store(kLiked);
  for (const char* name : {"endless", "liked"}) {
    add_consumer(session(), {.name = name, .overrides = kQuick});
  }
  test::ManualClock clock;
  SlowProjections slow(clock, std::chrono::milliseconds(200));
  ConsumerMetrics metrics;
  const Workload quick{.is_own = true, .slow = {&slow}};
  session().run("SET statement_timeout = 200");
  while (maintain_projections(session(), metrics, {}, quick)) {
  }
  EXPECT_EQ(liked(), "7: 1");
  EXPECT_EQ(slow.ids().size(), 1U);
  EXPECT_EQ(last_error("endless"), "");
  session().run("SET statement_timeout = 0");
  maintain_projections(session(), metrics, {},
                       {.is_own = true, .slow = {&slow}, .takes_slow = true});
  EXPECT_THAT(last_error("endless"), HasSubstr("statement timeout"));
}

TEST_F(OwnProjectionsTest, settings_of_the_session_stay) {
  like(1);
  store(with_fold(kDelta));
  consume("own");
  session().run("SET search_path = bsky, public; SET statement_timeout = '7s'");
  {
    postgres::Transaction transaction(session());
    const ProjectionRef own = used_projection(session(), "own");
    apply_changes(session(), *own,
                  {.consumer_id = std::stoi(id_of("own")),
                   .name = "own",
                   .lane = 0,
                   .lanes = 1,
                   .first = 1,
                   .end = 2});
    EXPECT_EQ(value("SELECT current_setting('statement_timeout')"), "7s");
    StatementLimit longer(session(), std::chrono::hours(1));
    EXPECT_EQ(value("SELECT current_setting('statement_timeout')"), "7s");
    StatementLimit shorter(session(), std::chrono::milliseconds(1'500));
    EXPECT_EQ(value("SELECT current_setting('statement_timeout')"), "1500ms");
    shorter.end();
    EXPECT_EQ(value("SELECT current_setting('statement_timeout')"), "7s");
    create_tables(session(), *own, 9'999);
    create_own_functions(session(), *own, 9'999, keys_of_collections(session(), *own));
    EXPECT_EQ(value("SELECT current_setting('search_path')"), "bsky, public");
  }
  session().run("SET search_path = public; SET statement_timeout = 0");
  try_projection(session(), read_own_projection(with_fold(kDelta)), {});
  EXPECT_EQ(value("SELECT count(*) FROM pg_prepared_statements WHERE from_sql OR statement ~ "
                  "'^(CREATE|PREPARE)'"),
            "0");
}

TEST_F(OwnProjectionsTest, a_dropped_table_is_named_with_its_cure) {
  for (const std::string& text : {with_fold(kDelta), kLiked}) {
    const std::string name = text == kLiked ? "liked" : "own";
    SCOPED_TRACE(name);
    store(text);
    consume(name);
    session().run(fmt::format("DROP TABLE projections.{}_{} CASCADE", name, id_of(name)));
    like(1, std::stoll(value("SELECT count(*) + 1 FROM bsky.likes")));
    test::fold_changes(session(), 5);
    EXPECT_THAT(last_error(name), HasSubstr(fmt::format("the table projections.{}_{} was dropped: "
                                                        "`skua consumers rebuild {}`",
                                                        name, id_of(name), name)));
    rebuild_consumer(session(), name);
    test::maintain_projections(session());
    test::fold_changes(session());
    EXPECT_EQ(state(name), "live running");
    EXPECT_EQ(last_error(name), "");
    EXPECT_EQ(differences(name), "");
  }
}

/// A comparison with a second fill needs temporary tables, which a database may forbid.
TEST_F(OwnProjectionsTest, a_missing_right_to_temporary_tables_is_named_with_its_cure) {
  like(1);
  store(with_fold(kDelta));
  consume("own");
  session().run(fmt::format("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC", database_.name()));
  std::string error;
  try {
    differences("own");
  } catch (const postgres::SqlError& refused) {
    error = refused.what();
    EXPECT_EQ(refused.sqlstate(), "42501");
  }
  EXPECT_THAT(error, HasSubstr("the comparison needs temporary tables"));
  try {
    try_projection(session(), read_own_projection(with_fold(kDelta)), {});
    ADD_FAILURE() << "it was tried";
  } catch (const std::invalid_argument& refused) {
    EXPECT_THAT(refused.what(), HasSubstr("GRANT TEMPORARY ON DATABASE"));
  }
  // Batches need no temporary tables.
  like(2);
  test::fold_changes(session());
  EXPECT_EQ(value("SELECT n FROM projections.own"), "2");
  const std::size_t begin = error.find('`');
  ASSERT_NE(begin, std::string::npos);
  session().run(error.substr(begin + 1, error.find('`', begin + 1) - begin - 1));
  EXPECT_EQ(differences("own"), "");
}

/// Rows of projections change without a change in the log, so that no projection may read them.
TEST_F(OwnProjectionsTest, rows_of_projections_are_not_read) {
  like(1);
  store(kLiked);
  consume("liked");
  session().run(
      "GRANT SELECT ON projections.liked TO skua_projection; CREATE VIEW public.of_view AS SELECT "
      "author FROM projections.liked; CREATE VIEW public.of_views AS SELECT author FROM "
      "public.of_view; GRANT USAGE ON SCHEMA public TO skua_projection; GRANT SELECT ON "
      "public.of_view, public.of_views TO skua_projection");
  const auto reading = [](const std::string& relation, const std::string& column) {
    return with_fold("INSERT INTO {own} SELECT " + column + ", 1 FROM " + relation +
                     " WHERE false");
  };
  EXPECT_THAT(refusal(reading("projections.liked", "author")),
              HasSubstr("it reads projections.liked, the rows of a projection"));
  EXPECT_THAT(
      refusal(reading("public.of_views", "author")),
      HasSubstr("it reads projections.liked through the view public.of_views, the rows of a "
                "projection: a projection follows from records only"));
  EXPECT_THAT(refusal(reading("bsky.post_stats", "actor_id")),
              HasSubstr("it reads bsky.post_stats, the rows of a projection"));
  EXPECT_EQ(refusal(reading("bsky.posts", "actor_id")), "");
}

/// Its own view reads a view of a user, and this view its own: a cycle. It harms readers of these
/// views only, and the next build heals it.
TEST_F(OwnProjectionsTest, a_cycle_of_views_is_healed_by_a_rebuild) {
  like(1);
  session().run(
      "CREATE VIEW public.mine AS SELECT actor_id AS id, 1::int8 AS n FROM bsky.likes; GRANT USAGE "
      "ON SCHEMA public TO skua_projection; GRANT SELECT ON public.mine TO skua_projection");
  store(with_fold("INSERT INTO {own} SELECT id, n FROM public.mine ON CONFLICT DO NOTHING"));
  consume("own");
  session().run(
      "CREATE OR REPLACE VIEW public.mine AS SELECT id, n FROM projections.own; CREATE OR REPLACE "
      "VIEW projections.own AS SELECT id, n FROM public.mine");
  EXPECT_THROW(value("SELECT count(*) FROM projections.own"), postgres::SqlError);
  like(2);
  consume("post_stats");
  test::fold_changes(session(), 20);
  EXPECT_THAT(last_error("own"), HasSubstr("infinite recursion"));
  EXPECT_EQ(likes(), "1: 2");
  // The build is refused while the view of the user reads the projection.
  rebuild_consumer(session(), "own");
  test::maintain_projections(session());
  EXPECT_THAT(value("SELECT error FROM skua.consumers WHERE name = 'own' AND role = 'next'"),
              HasSubstr("infinite recursion"));
  session().run(
      "CREATE OR REPLACE VIEW public.mine AS SELECT actor_id AS id, 1::int8 AS n FROM bsky.likes");
  session().run("UPDATE skua.consumers SET retry_at = NULL");
  test::maintain_projections(session());
  EXPECT_EQ(state("own"), "live running");
  EXPECT_EQ(value("SELECT sum(n) FROM projections.own"), "2");
  remove_consumer(session(), "own");
  test::maintain_projections(session());
  EXPECT_EQ(state("own"), "none");
}

}  // namespace
}  // namespace skua::consumers::own_projections_test
