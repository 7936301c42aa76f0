#include "retention/removal.hpp"

#include <chrono>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "integration/account_events.hpp"
#include "postgres/locks.hpp"
#include "support/change_log.hpp"
#include "support/made_events.hpp"
#include "support/postgres.hpp"
#include "support/projections.hpp"
#include "tables/filter_table.hpp"
#include "writer/account_locks.hpp"

namespace skua::retention::removal_test {
namespace {

using nlohmann::json;

const std::string kPost = "app.bsky.feed.post";
const std::string kLike = "app.bsky.feed.like";
const std::string kAlice = "did:plc:alice";
const std::string kBob = "did:plc:bob";
const std::string kCarol = "did:plc:carol";
constexpr const char* kOld = "2020-01-02T03:04:05.678Z";

std::string key(int n) {
  return atproto::Tid{(std::uint64_t{1} << 60) + static_cast<std::uint64_t>(n)}.to_string();
}

std::string now_text() {
  return format_datetime(system_clock().now() - std::chrono::minutes(1));
}

class RemovalTest : public test::AccountEventsTest {
 protected:
  void SetUp() override {
    SKUA_NEED_POSTGRES();
    clock_.advance(system_clock().now() - clock_.now());
  }

  void put(const std::string& did, const std::string& collection, int n, json record,
           const std::string& created_at) {
    record["createdAt"] = created_at;
    write(test::made_write(did, collection, key(n), ++rev_, record));
  }
  json like_of(const std::string& did, int n) {
    return test::made_like("at://" + did + "/" + kPost + "/" + key(n));
  }
  void keep(const std::string& collection, std::chrono::hours time) {
    ASSERT_TRUE(tables::set_retention(session(), collection, time));
  }
  void expire(const std::string& collection) {
    while (!expire_step(session(), collection, metrics_).is_end) {
    }
  }
  std::string rows(const std::string& table) {
    return value(
        "SELECT coalesce(string_agg(substr(a.did, 9) || '/' || (t.rkey & 255), ', ' ORDER BY "
        "a.did, t.rkey), '') FROM bsky." +
        table + " AS t JOIN bsky.actors AS a ON a.id = t.actor_id WHERE t.cid IS NOT NULL");
  }
  /// The projections and the log must follow from the rows that remain.
  void expect_consistency() {
    EXPECT_EQ(test::projection_differences(session()), "");
    EXPECT_EQ(test::change_log_differences(session()), "");
  }

  std::uint64_t rev_ = std::uint64_t{1} << 60;
  RemovalMetrics metrics_;
};

TEST_F(RemovalTest, old_records_of_a_collection_go_and_the_log_has_their_removal) {
  test::add_projections(session(), 100);
  put(kAlice, kPost, 1, test::made_post("old"), kOld);
  put(kAlice, kPost, 2, test::made_post("new"), now_text());
  put(kBob, kLike, 3, like_of(kAlice, 2), kOld);
  put(kBob, kLike, 4, like_of(kAlice, 1), now_text());
  keep(kPost, std::chrono::hours(24));
  expire(kPost);
  EXPECT_EQ(rows("posts"), "alice/2");
  EXPECT_EQ(rows("likes"), "bob/3, bob/4") << "another collection is kept";
  keep(kLike, std::chrono::hours(24));
  expire(kLike);
  EXPECT_EQ(rows("likes"), "bob/4");
  EXPECT_EQ(metrics_.expired.value(), 2);
  EXPECT_EQ(value("SELECT string_agg(removed::text, ',' ORDER BY collection) FROM skua.retention"),
            "1,1");
  expect_consistency();
  EXPECT_EQ(value("SELECT likes FROM bsky.post_stats WHERE rkey & 255 = 2"), "0")
      << "the count follows";
}

TEST_F(RemovalTest, a_later_duplicate_takes_over_when_the_first_expires) {
  test::add_projections(session(), 100);
  put(kAlice, kPost, 1, test::made_post("liked"), now_text());
  put(kBob, kLike, 2, like_of(kAlice, 1), kOld);
  put(kBob, kLike, 3, like_of(kAlice, 1), now_text());
  keep(kLike, std::chrono::hours(24));
  expire(kLike);
  EXPECT_EQ(rows("likes"), "bob/3");
  expect_consistency();
  EXPECT_EQ(value("SELECT likes FROM bsky.post_stats WHERE rkey & 255 = 1"), "1");
}

TEST_F(RemovalTest, records_of_collections_without_a_table_and_invalid_records_expire_too) {
  put(kAlice, "com.example.note", 1, {{"$type", "com.example.note"}}, kOld);
  put(kAlice, kPost, 2, {{"$type", kPost}, {"text", 7}}, kOld);
  put(kAlice, "com.example.other", 3, {{"$type", "com.example.other"}}, kOld);
  EXPECT_EQ(rows("records"), "alice/1, alice/2, alice/3");
  session().run("UPDATE bsky.records SET indexed_at = indexed_at - interval '2 days'");
  keep("com.example.note", std::chrono::hours(24));
  keep(kPost, std::chrono::hours(24));
  keep("com.example.unknown", std::chrono::hours(24));
  for (const Rule& rule : read_rules(session())) expire(rule.collection);
  EXPECT_EQ(rows("records"), "alice/3");
  EXPECT_EQ(test::change_log_differences(session()), "");
}

TEST_F(RemovalTest, a_pass_goes_through_the_whole_table_in_steps) {
  put(kAlice, kPost, 1, test::made_post("a"), kOld);
  session().run(
      "INSERT INTO bsky.posts (actor_id, rkey, rev, indexed_at, created_at, cid, text) SELECT "
      "p.actor_id, g, 1, now(), CASE WHEN g % 2 = 0 THEN now() ELSE '2020-01-01' END, p.cid, "
      "repeat(md5(g::text), 20) FROM bsky.posts AS p, generate_series(1000, 8999) AS g");
  keep(kPost, std::chrono::hours(24));
  int steps = 0;
  while (!expire_step(session(), kPost, metrics_).is_end) ++steps;
  EXPECT_GT(steps, 4);
  EXPECT_EQ(metrics_.expired.value(), 4'001);
  EXPECT_EQ(value("SELECT concat_ws(' ', count(cid), count(first_cid)) FROM bsky.posts"),
            "4000 4001")
      << "the first CIDs stay";
  EXPECT_EQ(next_expiring(session()), "") << "the next pass begins an hour later";
  session().run("UPDATE skua.retention SET pass_at = pass_at - interval '61 minutes'");
  EXPECT_EQ(next_expiring(session()), kPost);
}

TEST_F(RemovalTest, a_process_that_works_on_a_collection_keeps_others_away) {
  keep(kPost, std::chrono::hours(24));
  postgres::Session other(database_.url(), "skua test");
  other.run("BEGIN");
  other.run("SELECT FROM skua.retention FOR UPDATE");
  EXPECT_TRUE(expire_step(session(), kPost, metrics_).is_end);
  other.run("ROLLBACK");
}

TEST_F(RemovalTest, deleted_accounts_take_turns) {
  test::add_projections(session(), 100);
  const std::vector<std::string> dids = {kAlice, kBob};
  for (const std::string& did : dids) put(did, kLike, 1, like_of(kBob, 3), now_text());
  session().run(
      "INSERT INTO bsky.likes SELECT (l).* FROM (SELECT jsonb_populate_record(l, "
      "jsonb_build_object('rkey', l.rkey + n)) AS l FROM bsky.likes l JOIN bsky.actors a ON a.id = "
      "l.actor_id, generate_series(1, 12000) n WHERE a.did = '" +
      kAlice + "') AS more");
  postgres::Session other(database_.url(), "skua test");
  for (const std::string& did : dids) {
    event::UnresolvedEvent gone = test::actor_event(did);
    gone.body = event::AccountChange{false, "deleted", clock_.now(), true, {rev_}};
    write_only(test::list(std::move(gone)));
  }
  const std::stop_token never;
  other.run("BEGIN");
  postgres::lock_xact(other, writer::locks_of_account(other, kBob));
  EXPECT_EQ(purge_deleted(session(), never, metrics_), 5'000) << "bob is locked";
  other.run("ROLLBACK");
  EXPECT_EQ(purge_deleted(session(), never, metrics_), 5'001);
  EXPECT_EQ(purge_deleted(session(), never, metrics_), 2'001);
  EXPECT_EQ(purge_deleted(session(), never, metrics_), 0);
  EXPECT_EQ(metrics_.purged.value(), 12'002);
  EXPECT_EQ(rows("likes"), "");
  EXPECT_EQ(value("SELECT count(*) FROM skua.purges"), "0");
}

TEST_F(RemovalTest, more_deleted_accounts_than_a_page_has_have_their_turn) {
  session().run(
      "INSERT INTO skua.purges SELECT 'did:plc:' || n, 1, 1, now() FROM generate_series(1, 250) n");
  EXPECT_EQ(purge_deleted(session(), {}, metrics_), 0);
  EXPECT_EQ(value("SELECT count(*) FROM skua.purges"), "0");
}

TEST_F(RemovalTest, the_rows_of_an_excluded_account_go_and_can_come_back) {
  test::add_projections(session(), 100);
  put(kAlice, kPost, 1, test::made_post("a"), now_text());
  put(kAlice, "com.example.note", 2, {{"$type", "com.example.note"}}, now_text());
  put(kBob, kPost, 3, test::made_post("b"), now_text());
  put(kBob, kLike, 4, like_of(kAlice, 1), now_text());
  put(kAlice, kLike, 5, like_of(kBob, 3), now_text());
  EXPECT_EQ(tables::exclude_accounts(session(), {kAlice, "did:plc:unknown"}), 2);
  EXPECT_EQ(remove_excluded(session(), Due::Usual, metrics_), 0)
      << "processes may not know of it yet";
  session().run(
      "UPDATE skua.excluded_accounts SET excluded_at = excluded_at - interval '1 minute'");
  EXPECT_EQ(remove_excluded(session(), Due::Usual, metrics_), 2);
  EXPECT_EQ(rows("posts"), "bob/3");
  EXPECT_EQ(rows("likes"), "bob/4");
  EXPECT_EQ(rows("records"), "");
  EXPECT_EQ(metrics_.excluded.value(), 3);
  EXPECT_EQ(remove_excluded(session(), Due::Usual, metrics_), 0);
  expect_consistency();
  // An event that was in flight.
  put(kAlice, kPost, 6, test::made_post("late"), now_text());
  session().run(
      "UPDATE skua.excluded_accounts SET excluded_at = excluded_at - interval '11 minutes', "
      "removed_at = removed_at - interval '11 minutes'");
  EXPECT_EQ(remove_excluded(session(), Due::Usual, metrics_), 2);
  EXPECT_EQ(rows("posts"), "bob/3");
  EXPECT_EQ(remove_excluded(session(), Due::Usual, metrics_), 0);
  EXPECT_EQ(tables::include_accounts(session(), {kAlice}), 1);
  // The same record at the same revision, as a download of the repository has it.
  rev_ = std::uint64_t{1} << 60;
  put(kAlice, kPost, 1, test::made_post("a"), now_text());
  EXPECT_EQ(rows("posts"), "alice/1, bob/3");
  expect_consistency();
}

TEST_F(RemovalTest, a_prune_removes_what_the_filter_leaves_out) {
  test::add_projections(session(), 100);
  put(kAlice, kPost, 1, test::made_post("a"), now_text());
  put(kAlice, kLike, 2, like_of(kBob, 3), now_text());
  put(kAlice, "com.example.note", 7, {{"$type", "com.example.note"}}, now_text());
  put(kAlice, "com.example.other", 8, {{"$type", "com.example.other"}}, now_text());
  put(kBob, kPost, 3, test::made_post("b"), now_text());
  put(kBob, kLike, 4, like_of(kAlice, 1), now_text());
  put(kBob, "com.example.note", 9, {{"$type", "com.example.note"}}, now_text());
  EXPECT_EQ(prune(session(), *tables::load_filter(session())), 0);
  tables::change_filter(session(), tables::FilterEdit::Set,
                        {{kPost, "com.example.note"}, {kAlice}});
  EXPECT_EQ(prune(session(), *tables::load_filter(session())), 5);
  EXPECT_EQ(rows("posts"), "alice/1");
  EXPECT_EQ(rows("likes"), "");
  EXPECT_EQ(rows("records"), "alice/7");
  EXPECT_EQ(prune(session(), *tables::load_filter(session())), 0);
  expect_consistency();
}

TEST_F(RemovalTest, the_thread_removes_what_the_filter_asks_for) {
  put(kAlice, kPost, 1, test::made_post("old"), kOld);
  put(kBob, kPost, 2, test::made_post("new"), now_text());
  keep(kPost, std::chrono::hours(24));
  tables::exclude_accounts(session(), {kBob});
  session().run(
      "UPDATE skua.excluded_accounts SET excluded_at = excluded_at - interval '1 minute'");
  put(kCarol, kPost, 3, test::made_post("gone"), now_text());
  session().run(
      "INSERT INTO skua.purges SELECT did, id, 9223372036854775807, now() FROM bsky.actors WHERE "
      "did = '" +
      kCarol + "'");
  filter::CurrentFilter filter;
  filter.set(tables::load_filter(session()));
  postgres::Runtime runtime(database_.url(), system_clock());
  Remover remover(runtime, filter, std::chrono::milliseconds(1));
  remover.start();
  while (value("SELECT count(*) FROM bsky.posts WHERE cid IS NOT NULL") != "0") {
  }
  remover.stop();
  EXPECT_EQ(remover.metrics().expired.value(), 1);
  EXPECT_EQ(remover.metrics().excluded.value(), 1);
  EXPECT_EQ(remover.metrics().purged.value(), 1);
}

}  // namespace
}  // namespace skua::retention::removal_test
