#include "writer/row_writer.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "atproto/tid.hpp"
#include "ids/resolver.hpp"
#include "postgres/locks.hpp"
#include "support/made_events.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "writer/table_samples.hpp"

namespace skua::writer::live_writer_test {
namespace {

using event::Operation;
using event::ResolvedEvent;
using event::UnresolvedEvent;
using test::made_delete;
using test::made_follow;
using test::made_like;
using test::made_post;
using test::made_write;

const std::string kPost = "app.bsky.feed.post";
const std::string kFollow = "app.bsky.graph.follow";
const std::string kAlice = "did:plc:alice";
const std::string kBob = "did:plc:bob";
const std::string kKey = "3l2s5xxv2ze2c";

class LiveWriterTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  /// Resolves and writes in one batch; events of conflicts are expected not to be there.
  RowWriter::Outcome write(std::vector<UnresolvedEvent> events) {
    std::vector<ResolvedEvent> batch;
    for (auto& event : events) batch.push_back({std::move(event)});
    ids::Resolver resolver(session(), ids_, clock_);
    EXPECT_TRUE(resolver.resolve(batch).empty());
    return writer_.write(session(), test::pointers_to(batch), clock_.now());
  }
  RowWriter::Outcome write(UnresolvedEvent event) {
    std::vector<UnresolvedEvent> events;
    events.push_back(std::move(event));
    return write(std::move(events));
  }

  test::ManualClock clock_;
  ids::SharedIds ids_;
  RowWriter writer_{SourceNames("relay:test")};
};

TEST_F(LiveWriterTest, writes_a_post_and_a_like_with_its_stub) {
  write(made_write(kAlice, kPost, kKey, 10, made_post("hello")));
  write(made_write(kBob, "app.bsky.feed.like", kKey, 11,
                   made_like("at://" + kAlice + "/app.bsky.feed.post/3l2s5xxv2ze2d")));
  EXPECT_EQ(value("SELECT text FROM bsky.posts_view"), "hello");
  EXPECT_EQ(value("SELECT subject_uri FROM bsky.likes_view"),
            "at://" + kAlice + "/app.bsky.feed.post/3l2s5xxv2ze2d");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts WHERE cid IS NULL"), "1");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.all_records"), "2");
}

TEST_F(LiveWriterTest, an_older_rev_never_wins) {
  write(made_write(kAlice, kPost, kKey, 20, made_post("new")));
  const auto outcome = write(made_write(kAlice, kPost, kKey, 10, made_post("old")));
  EXPECT_EQ(outcome.rows, 0U);
  EXPECT_EQ(value("SELECT text FROM bsky.posts_view"), "new");
}

/// Messages before it may have been missed, as with each profile that existed before Skua did.
TEST_F(LiveWriterTest, an_update_of_a_record_that_was_never_seen_stores_it) {
  int singletons = 0;
  for (const test::TableSample& sample : test::table_samples()) {
    singletons += sample.rkey == "self" ? 1 : 0;
    write(made_write(kAlice, sample.collection, sample.rkey, 10, sample.record, Operation::Update));
    EXPECT_EQ(value("SELECT count(*) FROM bsky." + sample.table + " WHERE rev = 10"), "1")
        << sample.collection;
  }
  EXPECT_GE(singletons, 4);
}

TEST_F(LiveWriterTest, a_create_replaces_an_older_record_with_its_uri) {
  for (const test::TableSample& sample : test::table_samples()) {
    nlohmann::json newer = sample.record;
    newer["zzNew"] = "newer";
    write(made_write(kAlice, sample.collection, sample.rkey, 10, sample.record));
    write(made_write(kAlice, sample.collection, sample.rkey, 11, newer));
    EXPECT_EQ(value("SELECT string_agg(concat_ws(' ', rev, extra ->> 'zzNew'), ', ') FROM bsky." +
                    sample.table + " WHERE cid IS NOT NULL"),
              "11 newer")
        << sample.collection;
  }
}

TEST_F(LiveWriterTest, a_replay_changes_nothing_indexed_at_included) {
  const auto events = [] {
    std::vector<UnresolvedEvent> all;
    all.push_back(made_write(kAlice, kPost, kKey, 10, made_post("hello")));
    all.push_back(made_write(kAlice, kFollow, kKey, 11, made_follow(kBob)));
    all.push_back(made_write(kAlice, "com.example.thing", "any:key", 12, {{"a", 1}}));
    return all;
  };
  write(events());
  const std::string before =
      value("SELECT string_agg(r::text, ';' ORDER BY uri) FROM bsky.all_records r");
  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(write(events()).rows, 0U);
  EXPECT_EQ(value("SELECT string_agg(r::text, ';' ORDER BY uri) FROM bsky.all_records r"), before);
}

TEST_F(LiveWriterTest, a_tombstone_keeps_an_older_create_out_and_lets_a_newer_one_in) {
  write(made_write(kAlice, kFollow, kKey, 10, made_follow(kBob)));
  write(made_delete(kAlice, kFollow, kKey, 20));
  EXPECT_EQ(value("SELECT count(*) FROM bsky.follows"), "0");
  write(made_write(kAlice, kFollow, kKey, 10, made_follow(kBob)));
  EXPECT_EQ(value("SELECT count(*) FROM bsky.follows"), "0");
  write(made_write(kAlice, kFollow, kKey, 30, made_follow(kBob)));
  EXPECT_EQ(value("SELECT count(*) FROM bsky.follows"), "1");
}

/// Where batches end is chance: it must leave no trace.
TEST_F(LiveWriterTest, a_delete_between_two_creates_leaves_the_same_in_one_batch_and_in_three) {
  const auto history = [](const std::string& did, const std::string& collection) {
    const auto record = collection == kFollow ? made_follow(kBob) : nlohmann::json{{"a", 1}};
    std::vector<UnresolvedEvent> events;
    events.push_back(made_write(did, collection, kKey, 10, record));
    events.push_back(made_delete(did, collection, kKey, 20));
    events.push_back(made_write(did, collection, kKey, 30, record));
    return events;
  };
  const auto state = [&](const std::string& did) {
    const std::string actor = "(SELECT id FROM bsky.actors WHERE did = '" + did + "')";
    return value(
               "SELECT string_agg(collection_id || ' ' || rev, ',' ORDER BY collection_id) "
               "FROM skua.tombstones WHERE actor_id = " +
               actor) +
           ";" +
           value(
               "SELECT string_agg(collection || ' ' || rev, ',' ORDER BY uri) "
               "FROM bsky.all_records WHERE did = '" +
               did + "'");
  };
  for (const std::string& collection : {kFollow, std::string("com.example.thing")}) {
    write(history(kAlice, collection));
    for (auto& event : history("did:plc:carol", collection)) write(std::move(event));
  }
  const std::string left = state(kAlice);
  EXPECT_NE(left.find(" 20"), std::string::npos) << left;
  EXPECT_EQ(state("did:plc:carol"), left);
  for (const std::string& collection : {kFollow, std::string("com.example.thing")}) {
    for (auto& event : history(kAlice, collection)) write(std::move(event));
    write(history("did:plc:carol", collection));
  }
  EXPECT_EQ(state(kAlice), left);
  EXPECT_EQ(state("did:plc:carol"), left);
}

TEST_F(LiveWriterTest, a_delete_of_a_record_never_seen_keeps_its_older_create_out) {
  write(made_delete(kAlice, kFollow, kKey, 20));
  write(made_write(kAlice, kFollow, kKey, 10, made_follow(kBob)));
  EXPECT_EQ(value("SELECT count(*) FROM bsky.follows"), "0");
}

TEST_F(LiveWriterTest, the_guard_looks_keys_up_though_its_plan_was_made_for_tiny_tables) {
  write(made_write(kAlice, "com.example.thing", "any:key", 1, {{"a", 1}}));
  session().run("ANALYZE bsky.records; ANALYZE skua.tombstones");
  for (int i = 0; i < 10; ++i) {
    write(made_write(kAlice, "com.example.thing", "key" + std::to_string(i), 2 + i, {{"a", 1}}));
  }
  const postgres::Rows plan =
      session().run("EXPLAIN EXECUTE guard_known('{1,2}', '{1,2}', '{1,2}')");
  std::string text;
  for (std::size_t row = 0; row < plan.size(); ++row) text += plan.text(row, 0);
  EXPECT_NE(text.find("records_pkey"), std::string::npos) << text;
  EXPECT_NE(text.find("tombstones_pkey"), std::string::npos) << text;
  EXPECT_EQ(text.find("records_collection"), std::string::npos) << text;
  EXPECT_EQ(text.find("Join Filter"), std::string::npos) << text;
}

TEST_F(LiveWriterTest, what_stands_at_or_below_the_floor_is_dropped) {
  write(made_write(kAlice, kPost, kKey, 5, made_post("first")));
  session().run("UPDATE bsky.actors SET floor_rev = 100 WHERE did = '" + kAlice + "'");
  write(made_write(kAlice, kPost, "3l2s5xxv2ze2d", 100, made_post("at the floor")));
  write(made_write(kAlice, kPost, "3l2s5xxv2ze2e", 101, made_post("above")));
  EXPECT_EQ(value("SELECT string_agg(text, ',' ORDER BY rev) FROM bsky.posts_view"), "first,above");
}

TEST_F(LiveWriterTest, validity_can_change_by_update) {
  const auto rows = [&] {
    return value("SELECT count(*) FROM bsky.follows") + " " +
           value("SELECT count(*) FROM bsky.records") + " " +
           value("SELECT count(*) FROM bsky.all_records");
  };
  const nlohmann::json broken = {{"$type", kFollow}, {"subject", kBob}};
  write(made_write(kAlice, kFollow, kKey, 10, made_follow(kBob)));
  EXPECT_EQ(rows(), "1 0 1");
  write(made_write(kAlice, kFollow, kKey, 20, broken, Operation::Update));
  EXPECT_EQ(rows(), "0 1 1");
  EXPECT_NE(value("SELECT invalid_reason FROM bsky.records").find("createdAt"), std::string::npos);
  // An older valid version must not come back beside it.
  write(made_write(kAlice, kFollow, kKey, 15, made_follow(kBob)));
  EXPECT_EQ(rows(), "0 1 1");
  write(made_write(kAlice, kFollow, kKey, 30, made_follow(kBob), Operation::Update));
  EXPECT_EQ(rows(), "1 0 1");
  // Nor an older invalid one.
  write(made_write(kAlice, kFollow, kKey, 25, broken, Operation::Update));
  EXPECT_EQ(rows(), "1 0 1");
  write(made_write(kAlice, kFollow, kKey, 40, broken, Operation::Update));
  write(made_delete(kAlice, kFollow, kKey, 50));
  EXPECT_EQ(rows(), "0 0 0");
}

TEST_F(LiveWriterTest, a_deleted_post_stays_as_a_marked_stub) {
  write(made_write(kAlice, kPost, kKey, 10, made_post("hello")));
  write(made_delete(kAlice, kPost, kKey, 20));
  EXPECT_EQ(
      value("SELECT count(*) FROM bsky.posts WHERE cid IS NULL AND is_deleted AND text IS NULL"),
      "1");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.all_records"), "0");
}

TEST_F(LiveWriterTest, several_changes_of_one_record_in_a_batch_leave_the_last) {
  std::vector<UnresolvedEvent> events;
  events.push_back(made_write(kAlice, kPost, kKey, 10, made_post("a")));
  events.push_back(made_delete(kAlice, kPost, kKey, 11));
  events.push_back(made_write(kAlice, kPost, kKey, 12, made_post("b")));
  events.push_back(made_write(kBob, kPost, kKey, 10, made_post("c")));
  events.push_back(made_delete(kBob, kPost, kKey, 11));
  write(std::move(events));
  EXPECT_EQ(value("SELECT string_agg(text, ',') FROM bsky.posts_view"), "b");
}

TEST_F(LiveWriterTest, events_of_an_account_that_is_held_elsewhere_are_set_aside_in_order) {
  postgres::Session other(database_.url(), "other");
  other.begin();
  const auto lock =
      postgres::account_lock(other, static_cast<std::uint8_t>(records::RecordType::Social), kAlice);
  ASSERT_EQ(postgres::try_lock_xact(other, std::vector{lock}), std::vector{true});
  const auto events = [] {
    std::vector<UnresolvedEvent> all;
    all.push_back(made_write(kAlice, kFollow, "3l2s5xxv2ze2c", 10, made_follow(kBob)));
    all.push_back(made_write(kBob, kFollow, "3l2s5xxv2ze2c", 10, made_follow(kAlice)));
    all.push_back(made_write(kAlice, kFollow, "3l2s5xxv2ze2d", 11, made_follow(kBob)));
    return all;
  };
  EXPECT_EQ(write(events()).busy, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(value("SELECT count(*) FROM bsky.follows"), "1");
  other.commit();
  EXPECT_TRUE(write(events()).busy.empty());
  EXPECT_EQ(value("SELECT count(*) FROM bsky.follows"), "3");
}

TEST_F(LiveWriterTest, account_events_are_kept_by_their_time) {
  const auto identity = [](const std::string& handle, int second) {
    UnresolvedEvent event;
    event.did = kAlice;
    event.type = records::RecordType::Actor;
    event.body = event::IdentityChange{handle, Timestamp(std::chrono::seconds(second))};
    return event;
  };
  const auto account = [](bool active, const std::string& status, int second) {
    UnresolvedEvent event;
    event.did = kAlice;
    event.type = records::RecordType::Actor;
    event.body = event::AccountChange{active, status, Timestamp(std::chrono::seconds(second))};
    return event;
  };
  std::vector<UnresolvedEvent> events;
  events.push_back(identity("one.test", 10));
  events.push_back(account(true, "", 11));
  events.push_back(identity("two.test", 12));
  write(std::move(events));
  EXPECT_EQ(value("SELECT handle || ' ' || active FROM bsky.actors"), "two.test true");
  EXPECT_EQ(write(identity("one.test", 10)).rows, 0U);
  EXPECT_EQ(write(account(false, "deactivated", 20)).rows, 1U);
  EXPECT_EQ(write(account(true, "", 11)).rows, 0U);
  EXPECT_EQ(value("SELECT handle || ' ' || active || ' ' || status FROM bsky.actors"),
            "two.test false deactivated");
}

TEST_F(LiveWriterTest, rejections_become_dead_letters_with_their_bytes_once) {
  const auto rejection = [] {
    UnresolvedEvent event;
    event.did = kAlice;
    event.seq = 7;
    event.body = event::Rejection{"app.bsky.feed.post/" + kKey, "no DAG-CBOR", {1, 0, 255}};
    return event;
  };
  EXPECT_EQ(write(rejection()).dead_letters, 1U);
  write(rejection());
  EXPECT_EQ(value("SELECT count(*) || ' ' || max(consumer) || ' ' || max(error) || ' ' || "
                  "max(encode(payload, 'hex')) || ' ' || max(attempts) FROM skua.dead_letter"),
            "1 indexer no DAG-CBOR 0100ff 1");
}

/// Random histories of a few records, delivered in random batches with replays of what came before,
/// as a restart does: the end is always that of the history itself.
class LiveWriterHistories : public LiveWriterTest, public testing::WithParamInterface<unsigned> {};

TEST_P(LiveWriterHistories, end_as_the_history_does) {
  std::mt19937 random(GetParam());
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  struct Step {
    std::string did;
    std::string collection;
    std::string rkey;
    std::uint64_t rev;
    std::optional<nlohmann::json> record;
  };
  const std::vector<std::string> dids = {kAlice, kBob};
  const std::vector<std::string> keys = {"3l2s5xxv2ze2c", "3l2s5xxv2ze2d", "odd.key"};
  std::vector<Step> history;
  std::map<std::string, std::string> expected;  // uri -> cid
  for (std::uint64_t rev = 1; rev <= 120; ++rev) {
    Step step{dids[below(2)], kPost, keys[below(3)], rev, std::nullopt};
    const std::size_t kind = below(10);
    if (kind >= 3 && kind < 5) step.collection = "com.example.thing";
    if (kind >= 5) step.collection = kFollow;
    if (below(3) != 0) {
      if (step.collection == kFollow) {
        step.record = made_follow(dids[below(2)]);
        if (below(3) == 0) step.record->erase("createdAt");
        (*step.record)["n"] = rev;
      } else {
        step.record = made_post("text " + std::to_string(rev));
      }
    }
    const std::string uri = "at://" + step.did + "/" + step.collection + "/" + step.rkey;
    if (step.record) {
      const auto event = made_write(step.did, step.collection, step.rkey, rev, *step.record);
      expected[uri] = std::get<event::RecordChange>(event.body).cid->to_string();
    } else {
      expected.erase(uri);
    }
    history.push_back(std::move(step));
  }
  std::size_t position = 0;
  while (position < history.size()) {
    // A restart goes back to some earlier position, a worker takes a batch of some size.
    if (below(4) == 0) position -= std::min(position, below(30));
    const std::size_t end = std::min(history.size(), position + 1 + below(12));
    std::vector<UnresolvedEvent> batch;
    for (; position < end; ++position) {
      const Step& step = history[position];
      batch.push_back(step.record
                          ? made_write(step.did, step.collection, step.rkey, step.rev, *step.record)
                          : made_delete(step.did, step.collection, step.rkey, step.rev));
    }
    write(std::move(batch));
    clock_.advance(std::chrono::seconds(1));
  }
  std::map<std::string, std::string> stored;
  const postgres::Rows rows = session().run("SELECT uri, cid FROM bsky.all_records");
  for (std::size_t row = 0; row < rows.size(); ++row) {
    EXPECT_TRUE(stored.emplace(rows.text(row, 0), rows.text(row, 1)).second) << rows.text(row, 0);
  }
  EXPECT_EQ(stored, expected);
}

INSTANTIATE_TEST_SUITE_P(seeds, LiveWriterHistories, testing::Range(1U, 7U));

}  // namespace
}  // namespace skua::writer::live_writer_test
