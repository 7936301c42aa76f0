#include "writer/account_changes.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "atproto/tid.hpp"
#include "integration/account_events.hpp"
#include "postgres/locks.hpp"
#include "support/made_events.hpp"
#include "support/made_labels.hpp"
#include "support/postgres.hpp"
#include "support/projections.hpp"
#include "writer/account_locks.hpp"
#include "writer/table_samples.hpp"
#include "writer/write_policy.hpp"

namespace skua::writer::account_changes_test {
namespace {

using event::UnresolvedEvent;
using test::actor_event;
using test::at;
using test::claim;
using test::list;
using test::made_follow;
using test::made_like;
using test::made_post;
using test::made_write;

const std::string kPost = "app.bsky.feed.post";
const std::string kThing = "com.example.thing";
const std::string kAlice = "did:plc:alice";
const std::string kBob = "did:plc:bob";
const std::string kKey = "3l2s5xxv2ze2c";

UnresolvedEvent status(const std::string& did, bool active, int second) {
  UnresolvedEvent event = actor_event(did);
  event.body = event::AccountChange{active, active ? "" : "deactivated", at(second)};
  return event;
}

/// A deletion for good. `last_rev` 0: not known.
UnresolvedEvent gone(const std::string& did, std::uint64_t last_rev, int second = 10) {
  UnresolvedEvent event = actor_event(did);
  event.body = event::AccountChange{false, "deleted", at(second), true, {last_rev}};
  return event;
}

class AccountChangesTest : public test::AccountEventsTest {
 protected:
  /// A record in each table, one that has none and one that is invalid.
  std::vector<UnresolvedEvent> one_of_each(const std::string& did, std::uint64_t rev) {
    std::vector<UnresolvedEvent> events;
    for (const test::TableSample& sample : test::table_samples()) {
      events.push_back(made_write(did, sample.collection, sample.rkey, rev, sample.record));
    }
    events.push_back(made_write(did, kThing, "any:key", rev, {{"a", 1}}));
    events.push_back(made_write(did, "app.bsky.graph.follow", "3l2s5xxv2ze2z", rev,
                                {{"$type", "app.bsky.graph.follow"}, {"subject", kBob}}));
    return events;
  }
  std::size_t tables() { return test::table_samples().size() + 2; }
  std::string records_of(const std::string& did) {
    return value("SELECT count(*) FROM bsky.all_records WHERE did = '" + did + "'");
  }
  /// Everything that the tables hold.
  std::string contents() {
    std::string text =
        value("SELECT string_agg(t::text, ';' ORDER BY t::text) FROM bsky.records t");
    text += value("SELECT string_agg(t::text, ';' ORDER BY id) FROM bsky.actors t");
    for (const test::TableSample& sample : test::table_samples()) {
      text += value("SELECT string_agg(t::text, ';' ORDER BY t::text) FROM bsky." + sample.table +
                    " t");
    }
    return text;
  }
};

// --- deleted accounts

TEST_F(AccountChangesTest, what_a_deleted_account_had_goes_from_every_table) {
  write(one_of_each(kAlice, 10));
  write(one_of_each(kBob, 10));
  ASSERT_EQ(records_of(kAlice), std::to_string(tables()));
  write(made_write(kAlice, kPost, "3l2s5xxv2ze2e", 20, made_post("at the floor")),
        made_write(kAlice, kPost, "3l2s5xxv2ze2f", 21, made_post("above")),
        made_write(kAlice, "app.bsky.feed.like", "3l2s5xxv2ze2f", 21,
                   made_like("at://" + kBob + "/" + kPost + "/" + kKey)),
        made_write(kAlice, kThing, "above", 21, {{"a", 1}}));
  EXPECT_EQ(write(gone(kAlice, 20)), tables() + 1);
  EXPECT_EQ(records_of(kBob), std::to_string(tables()));
  EXPECT_EQ(value("SELECT string_agg(uri, ' ' ORDER BY uri) FROM bsky.all_records WHERE did = '" +
                  kAlice + "'"),
            "at://did:plc:alice/app.bsky.feed.like/3l2s5xxv2ze2f "
            "at://did:plc:alice/app.bsky.feed.post/3l2s5xxv2ze2f "
            "at://did:plc:alice/com.example.thing/above");
  for (const test::TableSample& sample : test::table_samples()) {
    if (sample.table == "posts") continue;
    EXPECT_EQ(value("SELECT count(*) FROM bsky." + sample.table +
                    " t JOIN bsky.actors a ON a.id = t.actor_id WHERE a.did = '" + kAlice +
                    "' AND t.rev <= 20"),
              "0")
        << sample.table;
  }
  EXPECT_EQ(
      value("SELECT concat_ws(' ', active, status, floor_rev) FROM bsky.actors WHERE did = '" +
            kAlice + "'"),
      "f deleted 20");
}

TEST_F(AccountChangesTest, a_deletion_that_the_host_confirms_later_removes_what_came_before_it) {
  write(one_of_each(kAlice, 10));
  write(one_of_each(kBob, 10));
  UnresolvedEvent unsettled = gone(kAlice, 10, 100);
  std::get<event::AccountChange>(unsettled.body).purge = false;
  EXPECT_EQ(write(std::move(unsettled)), 0U);
  EXPECT_EQ(records_of(kAlice), std::to_string(tables()));
  // A CAR may be ahead of the stream, and an account may come back.
  const std::uint64_t said = atproto::Tid::from_time(at(100), 1023).value;
  write(made_write(kAlice, kThing, "before", said, {{"a", 1}}),
        made_write(kAlice, kThing, "after", said + 1, {{"a", 1}}));
  const auto purged = [&](const std::string& did) -> std::optional<std::size_t> {
    const writer::Confirmation confirmation = writer::confirm_deletion(session(), did);
    if (!confirmation.is_deleted) return std::nullopt;
    return test::purge(session(), did);
  };
  EXPECT_EQ(purged(kAlice), tables() + 1);
  EXPECT_EQ(value("SELECT string_agg(uri, ' ') FROM bsky.all_records WHERE did = '" + kAlice + "'"),
            "at://did:plc:alice/com.example.thing/after");
  EXPECT_EQ(value("SELECT floor_rev FROM bsky.actors WHERE did = '" + kAlice + "'"),
            std::to_string(said));
  EXPECT_EQ(purged(kAlice), 0U);
  EXPECT_EQ(purged(kBob), std::nullopt);
  EXPECT_EQ(records_of(kBob), std::to_string(tables()));
}

TEST_F(AccountChangesTest, posts_of_a_deleted_account_leave_marked_stubs) {
  write(one_of_each(kAlice, 10));
  const std::string stubs =
      "FROM bsky.posts t JOIN bsky.actors a ON a.id = t.actor_id AND a.did = '" + kAlice +
      "' WHERE t.cid IS NULL AND t.is_deleted";
  write(gone(kAlice, 20));
  EXPECT_EQ(value("SELECT count(*) " + stubs), "1");
  // As a delete leaves it: nothing of what it held but its first CID.
  EXPECT_EQ(value("SELECT string_agg(DISTINCT key, ' ' ORDER BY key) FROM "
                  "(SELECT t.* " +
                  stubs + ") p, jsonb_each(to_jsonb(p)) WHERE value <> 'null'"),
            "actor_id first_cid indexed_at is_deleted rev rkey");
  EXPECT_EQ(value("SELECT max(t.rev) " + stubs), "20");
}

TEST_F(AccountChangesTest, a_replay_of_a_deletion_changes_nothing) {
  write(one_of_each(kAlice, 10));
  write(gone(kAlice, 20));
  write(made_write(kAlice, kPost, "3l2s5xxv2ze2f", 21, made_post("after it came back")));
  const std::string before = contents();
  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(write(one_of_each(kAlice, 10)), 0U);
  EXPECT_EQ(write(gone(kAlice, 20)), 0U);
  EXPECT_EQ(contents(), before);
}

TEST_F(AccountChangesTest, what_is_older_than_a_deletion_stays_out_when_it_comes_later) {
  write(gone(kAlice, 20));
  write(one_of_each(kAlice, 10));
  write(one_of_each(kAlice, 20));
  EXPECT_EQ(records_of(kAlice), "0");
  write(one_of_each(kAlice, 21));
  EXPECT_EQ(records_of(kAlice), std::to_string(tables()));
}

TEST_F(AccountChangesTest, without_a_last_revision_what_was_made_before_the_deletion_goes) {
  const auto rev_at = [](Timestamp time) { return atproto::Tid::from_time(time, 0).value; };
  write(made_write(kAlice, kPost, kKey, rev_at(at(9)), made_post("before")),
        made_write(kAlice, kPost, "3l2s5xxv2ze2d", rev_at(at(10)), made_post("then")),
        made_write(kAlice, kPost, "3l2s5xxv2ze2e", rev_at(at(11)), made_post("after")));
  EXPECT_EQ(write(gone(kAlice, 0, 10)), 2U);
  EXPECT_EQ(value("SELECT string_agg(text, ' ') FROM bsky.posts"), "after");
}

TEST_F(AccountChangesTest, an_account_that_is_back_in_the_same_batch_has_lost_what_it_had) {
  write(one_of_each(kAlice, 10));
  EXPECT_EQ(write(gone(kAlice, 20, 10), status(kAlice, true, 11)), tables());
  EXPECT_EQ(records_of(kAlice), "0");
  EXPECT_EQ(value("SELECT concat_ws(' ', active, floor_rev) FROM bsky.actors WHERE did = '" +
                  kAlice + "'"),
            "t 20");
}

TEST_F(AccountChangesTest, a_purge_survives_a_crash_whatever_follows_the_deletion) {
  write(one_of_each(kAlice, 10));
  // Committed, and then the process ends. The events come again in other batches.
  EXPECT_EQ(write_only(list(gone(kAlice, 20, 10), status(kAlice, true, 11))).purges,
            std::vector{kAlice});
  EXPECT_EQ(records_of(kAlice), std::to_string(tables()));
  EXPECT_EQ(write(gone(kAlice, 20, 10)), 0U);
  write(status(kAlice, true, 11));
  write(made_write(kAlice, kThing, "after", 21, {{"a", 1}}));
  EXPECT_EQ(purges_after(session(), ""), std::vector{kAlice});
  EXPECT_EQ(test::purge(session(), kAlice), tables());
  EXPECT_EQ(records_of(kAlice), "1");
  EXPECT_EQ(value("SELECT active FROM bsky.actors WHERE did = '" + kAlice + "'"), "t");
  EXPECT_TRUE(purges_after(session(), "").empty());
}

TEST_F(AccountChangesTest, a_second_deletion_during_a_purge_extends_it) {
  write(one_of_each(kAlice, 10));
  write_only(list(gone(kAlice, 12, 10)));
  write_only(list(status(kAlice, true, 11)));
  write(made_write(kAlice, kThing, "after it came back", 15, {{"a", 1}}));
  write_only(list(gone(kAlice, 20, 12)));
  EXPECT_EQ(test::purge(session(), kAlice), tables() + 1);
  EXPECT_EQ(records_of(kAlice), "0");
}

TEST_F(AccountChangesTest, an_account_without_rows_needs_no_purge) {
  EXPECT_TRUE(write_only(list(gone(kAlice, 20))).purges.empty());
  EXPECT_TRUE(purges_after(session(), "").empty());
}

TEST_F(AccountChangesTest, a_deletion_that_is_older_than_what_is_known_removes_nothing) {
  write(one_of_each(kAlice, 10));
  write(status(kAlice, true, 11));
  EXPECT_EQ(write(gone(kAlice, 20, 10)), 0U);
  EXPECT_EQ(records_of(kAlice), std::to_string(tables()));
}

TEST_F(AccountChangesTest, two_deletions_in_a_batch_go_to_the_newer_floor) {
  write(one_of_each(kAlice, 10));
  write(made_write(kAlice, kPost, "3l2s5xxv2ze2f", 15, made_post("after it came back")));
  write(gone(kAlice, 12, 10), status(kAlice, true, 11), gone(kAlice, 20, 12));
  EXPECT_EQ(records_of(kAlice), "0");
  EXPECT_EQ(value("SELECT floor_rev FROM bsky.actors WHERE did = '" + kAlice + "'"), "20");
}

TEST_F(AccountChangesTest, a_worker_deletes_the_first_rows_of_a_large_account) {
  // The worker deletes rows in the order of the numbers: first those of Alice.
  session().run("UPDATE skua.account_groups SET numbers_have_group = false");
  write(made_write(kAlice, "app.bsky.graph.follow", kKey, 10, made_follow(kBob)),
        made_write(kBob, kPost, kKey, 10, made_post("small")));
  session().run(
      "INSERT INTO bsky.follows SELECT (f).* FROM (SELECT jsonb_populate_record(f, "
      "jsonb_build_object('rkey', f.rkey + n)) AS f FROM bsky.follows f, "
      "generate_series(1, 12000) n) AS more");
  ASSERT_EQ(value("SELECT count(*) FROM bsky.follows"), "12001");
  const auto batch = resolved(list(gone(kAlice, 20), gone(kBob, 20)));
  EXPECT_EQ(
      write_events(session(), writer_, test::pointers_to(batch), clock_.now(), ids_.posts).rows,
      kRowsOfRemoval + 2)
      << "the two changes of accounts count, too";
  EXPECT_EQ(purges_after(session(), ""), (std::vector{kAlice, kBob}));
  EXPECT_EQ(value("SELECT count(*) FROM bsky.follows"), "7001");
  EXPECT_EQ(test::purge(session(), kAlice), 7'001U);
  EXPECT_EQ(test::purge(session(), kBob), 1U);
  EXPECT_EQ(value("SELECT count(*) FROM bsky.follows"), "0");
}

TEST_F(AccountChangesTest, a_purge_waits_for_the_end_of_a_bootstrap) {
  write(one_of_each(kAlice, 10));
  write_only(list(gone(kAlice, 20)));
  session().run(
      "INSERT INTO skua.dropped_indexes (name, relation, definition) VALUES ('a', 'b', 'c')");
  EXPECT_TRUE(purges_after(session(), "").empty());
  session().run("DELETE FROM skua.dropped_indexes");
  EXPECT_EQ(purges_after(session(), ""), std::vector{kAlice});
}

// --- the history of an account that is back

TEST_F(AccountChangesTest, an_account_that_is_active_again_gets_the_history_that_was_refused) {
  const auto job = [&](const std::string& did, const std::string& state) {
    session().run(
        "INSERT INTO skua.backfill_jobs (did, host, state, error, attempts, retries, created_at, "
        "finished_at, next_attempt) VALUES ('" +
        did + "', 'https://pds.test', '" + state +
        "', 'RepoDeactivated', 1, 3, now(), '2020-01-01', '2040-01-01')");
  };
  const auto states = [&] {
    return value(
        "SELECT string_agg(did || ' ' || state, ', ' ORDER BY did) FROM "
        "skua.backfill_jobs");
  };
  job(kAlice, "unavailable");
  job(kBob, "cancelled");
  write(status(kAlice, false, 1), status(kBob, false, 1));
  EXPECT_EQ(states(), kAlice + " unavailable, " + kBob + " cancelled");
  write(status(kAlice, true, 2), status(kBob, true, 2));
  EXPECT_EQ(states(), kAlice + " queued, " + kBob + " cancelled");
  EXPECT_EQ(value("SELECT next_attempt = '" + format_datetime(clock_.now()) +
                  "' AND attempts = 0 AND retries = 0 FROM skua.backfill_jobs WHERE did = '" +
                  kAlice + "'"),
            "t");
}

TEST_F(AccountChangesTest, who_is_inactive_and_active_in_turns_is_not_asked_each_time) {
  session().run(
      "INSERT INTO skua.backfill_jobs (did, state, created_at, finished_at, next_attempt) VALUES "
      "('" +
      kAlice + "', 'unavailable', now(), '" + format_datetime(clock_.now()) + "', now())");
  write(status(kAlice, true, 2));
  EXPECT_EQ(value("SELECT next_attempt FROM skua.backfill_jobs"),
            value("SELECT finished_at + interval '1 minute' FROM skua.backfill_jobs"));
}

// --- locks

TEST_F(AccountChangesTest, a_step_of_a_purge_does_not_wait_long_for_another_transaction) {
  write(one_of_each(kAlice, 10));
  write_only(list(gone(kAlice, 10)));
  postgres::Session other(database_.url(), "other");
  postgres::Transaction writing(other);
  const std::vector lock = {
      postgres::account_lock(other, static_cast<std::uint8_t>(records::RecordType::Like), kAlice)};
  ASSERT_EQ(postgres::try_lock_xact(other, lock), std::vector{true});
  const PurgeStep step = purge_step(session(), kAlice, 100);
  EXPECT_EQ(step.rows, 0U);
  EXPECT_FALSE(step.is_done);
  EXPECT_EQ(records_of(kAlice), std::to_string(tables()));
  writing.commit();
  EXPECT_EQ(test::purge(session(), kAlice), tables());
}

class DeletionLocks : public AccountChangesTest,
                      public testing::WithParamInterface<records::RecordType> {};

TEST_P(DeletionLocks, a_deletion_waits_for_whoever_writes_records_of_this_type) {
  postgres::Session other(database_.url(), "other");
  other.begin();
  const std::vector lock = {
      postgres::account_lock(other, static_cast<std::uint8_t>(GetParam()), kAlice)};
  ASSERT_EQ(postgres::try_lock_xact(other, lock), std::vector{true});
  const auto batch = [] {
    return list(claim(kAlice, "alice.example", 9), gone(kAlice, 20), status(kBob, false, 10),
                claim(kAlice, "newer.example", 11));
  };
  const auto outcome = write_only(batch());
  EXPECT_EQ(outcome.busy, (std::vector<std::size_t>{0, 1, 3}));
  EXPECT_TRUE(outcome.purges.empty());
  EXPECT_EQ(value("SELECT string_agg(did, ' ') FROM bsky.actors WHERE active IS NOT NULL "
                  "OR handle IS NOT NULL OR floor_rev > 0"),
            kBob);
  // What concerns no records waits for its own lock alone.
  const bool is_own = GetParam() == records::RecordType::Actor;
  EXPECT_EQ(write_only(list(status(kAlice, false, 5))).busy.size(), is_own ? 1U : 0U);
  other.commit();
  const auto again = write_only(batch());
  EXPECT_TRUE(again.busy.empty());
  EXPECT_EQ(value("SELECT floor_rev FROM bsky.actors WHERE did = '" + kAlice + "'"), "20");
}

INSTANTIATE_TEST_SUITE_P(Types, DeletionLocks, testing::ValuesIn(records::kRecordTypes),
                         [](const auto& test) {
                           std::string name(records::name_of(test.param));
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

// --- accounts that are not active

class HiddenAccountsTest : public AccountChangesTest {
 protected:
  /// The rows of every view of records.
  std::map<std::string, int> rows() {
    test::fold_changes(session());
    std::map<std::string, int> rows;
    const postgres::Rows views = session().run(
        "SELECT relname FROM pg_class WHERE relnamespace = 'bsky'::regnamespace AND relkind = 'v' "
        "AND relname LIKE '%\\_view' AND relname <> 'actors_view'");
    for (std::size_t i = 0; i < views.size(); ++i) {
      const std::string view(views.text(i, 0));
      rows[view] = std::stoi(value("SELECT count(*) FROM bsky." + view));
    }
    return rows;
  }
};

TEST_F(HiddenAccountsTest, leave_every_view_and_come_back) {
  test::add_projections(session(), 100);
  const auto all_of = [&](const std::string& did) {
    write(one_of_each(did, 10));
    nlohmann::json post = made_post("with all that views show");
    post["facets"] = {{{"index", {{"byteStart", 0}, {"byteEnd", 4}}},
                       {"features", {{{"$type", "app.bsky.richtext.facet#tag"}, {"tag", "tag"}}}}}};
    const std::string cid = atproto::Cid::of(as_bytes("image"), atproto::Cid::kRaw).to_string();
    post["embed"] = {{"$type", "app.bsky.embed.images"},
                     {"images",
                      {{{"alt", "text"},
                        {"image",
                         {{"$type", "blob"},
                          {"ref", {{"$link", cid}}},
                          {"mimeType", "image/png"},
                          {"size", 5}}}}}}};
    write(made_write(did, kPost, "3l2s5xxv2ze2x", 11, post));
    const nlohmann::json reference = {
        {"uri", "at://" + did + "/" + kPost + "/3l2s5xxv2ze2x"},
        {"cid", atproto::Cid::of(as_bytes("post"), atproto::Cid::kDagCbor).to_string()}};
    nlohmann::json reply = made_post("a reply with a link card");
    reply["reply"] = {{"root", reference}, {"parent", reference}};
    reply["embed"] = {
        {"$type", "app.bsky.embed.external"},
        {"external", {{"uri", "https://example.com/"}, {"title", "title"}, {"description", ""}}}};
    write(made_write(did, kPost, "3l2s5xxv2ze2y", 11, reply));
    nlohmann::json quote = made_post("a quote");
    quote["embed"] = {{"$type", "app.bsky.embed.record"}, {"record", reference}};
    write(made_write(did, kPost, "3l2s5xxv2ze2z", 11, quote));
    nlohmann::json video = made_post("a video");
    video["embed"] = {
        {"$type", "app.bsky.embed.video"},
        {"video",
         {{"$type", "blob"}, {"ref", {{"$link", cid}}}, {"mimeType", "video/mp4"}, {"size", 5}}}};
    write(made_write(did, kPost, "3l2s5xxv2ze32", 11, video));
    write(test::made_label_event(test::made_label(did, "did:plc:carol", "spam"), 1));
  };
  all_of(kAlice);
  all_of(kBob);
  const auto before = rows();
  EXPECT_GE(before.size(), test::table_samples().size() + 3);
  for (const auto& [view, count] : before) EXPECT_GT(count, 0) << view;
  write(status(kAlice, false, 10));
  for (const auto& [view, count] : rows()) EXPECT_EQ(count * 2, before.at(view)) << view;
  const std::string shown =
      "SELECT concat_ws(' ', active, display_name IS NOT NULL) FROM bsky.actors_view WHERE did = '";
  EXPECT_EQ(value(shown + kAlice + "'"), "f f");
  EXPECT_EQ(value(shown + kBob + "'"), "t");
  EXPECT_EQ(records_of(kAlice), std::to_string(tables() + 4)) << "the tables keep it";
  write(status(kBob, false, 10));
  for (const auto& [view, count] : rows()) EXPECT_EQ(count, 0) << view;
  write(status(kAlice, true, 11), status(kBob, true, 11));
  EXPECT_EQ(rows(), before);
  EXPECT_EQ(value(shown + kAlice + "'"), "t t");
}

}  // namespace
}  // namespace skua::writer::account_changes_test
