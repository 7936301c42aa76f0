#include "ids/reference_sender.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "atproto/account_group.hpp"
#include "atproto/computed_number.hpp"
#include "base/account_number.hpp"
#include "ids/resolver.hpp"
#include "postgres/runtime.hpp"
#include "support/made_events.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "tables/account_groups.hpp"

namespace skua::ids::reference_sender_test {
namespace {

using event::ResolvedEvent;
using test::made_follow;
using test::made_like;
using test::made_write;

constexpr const char* kPost = "app.bsky.feed.post";
constexpr const char* kLike = "app.bsky.feed.like";
constexpr const char* kFollow = "app.bsky.graph.follow";
constexpr const char* kKey = "3l2s5xxv2ze2c";

const atproto::NumberKey kNumberKey{1, 2, 3};

/// Returns a DID whose group is owned by the first node, or by the second one.
std::string did_of(bool second, const std::string& name) {
  std::string did = "did:plc:" + name;
  while ((atproto::account_group(did) >= 32) != second) did += 'x';
  return did;
}

std::string number_text(const std::string& did) {
  return std::to_string(atproto::computed_account_number(kNumberKey, did));
}

/// Two nodes. The first one is the database of the fixture.
class ReferenceSenderTest : public test::PostgresTest {
 protected:
  void SetUp() override {
    SKUA_NEED_POSTGRES();
    tables::make_node(session(), atproto::GroupSet::parse("0-31").value(), kNumberKey);
    tables::make_node(other_, atproto::GroupSet::parse("32-63").value(), kNumberKey);
  }

  std::vector<Conflict> resolve(std::vector<ResolvedEvent>& batch) {
    return Resolver(session(), ids_, clock_).resolve(batch);
  }
  std::vector<ResolvedEvent> one(event::UnresolvedEvent event) {
    std::vector<ResolvedEvent> batch;
    batch.push_back({std::move(event)});
    return batch;
  }
  std::string at_other(const std::string& sql) {
    const postgres::Rows rows = other_.run(sql);
    return rows.empty() || rows.is_null(0, 0) ? "" : std::string(rows.text(0, 0));
  }
  /// Adds the second node to the list of the first one.
  void list(const std::string& url) {
    session().run("INSERT INTO skua.nodes VALUES ('second', '" + url +
                  "', ARRAY(SELECT generate_series(32, 63)))");
  }
  std::string waiting() {
    return value(
        "SELECT string_agg(text, ' ' ORDER BY text) FROM (SELECT text FROM skua.waiting_references "
        "UNION ALL SELECT unnest(dids) FROM skua.mentioned_accounts) AS w");
  }

  test::ManualClock clock_;
  SharedIds ids_;
  test::Database other_database_;
  postgres::Session other_{other_database_.url(), "test"};
};

TEST_F(ReferenceSenderTest, references_to_other_nodes_wait) {
  const std::string own = did_of(false, "a");
  const std::string friend_of_it = did_of(false, "b");
  const std::string foreign = did_of(true, "c");
  auto batch = one(made_write(own, kFollow, kKey, 1, made_follow(friend_of_it)));
  for (const std::string& did : {friend_of_it, foreign}) {
    batch.push_back({made_write(own, kLike, did == foreign ? kKey : "3l2s5xxv2ze2d", 1,
                                made_like("at://" + did + "/app.bsky.feed.post/" + kKey))});
    batch.push_back({made_write(own, kLike, did == foreign ? "3l2s5xxv2ze2e" : "3l2s5xxv2ze2f", 1,
                                made_like("at://" + did + "/app.bsky.feed.generator/art"))});
  }
  EXPECT_TRUE(resolve(batch).empty());
  EXPECT_EQ(std::to_string(batch[0].actor_id), number_text(own));
  EXPECT_EQ(value("SELECT bool_and(id = skua.new_account_number(did)) FROM bsky.actors"), "t");
  EXPECT_EQ(waiting(), "art " + foreign);
  EXPECT_EQ(value("SELECT count(*) FILTER (WHERE actor_id = " + number_text(friend_of_it) +
                  ") || ' of ' || count(*) FROM bsky.posts"),
            "1 of 1")
      << "the stub of a post is on its own node";
}

TEST_F(ReferenceSenderTest, a_node_receives_what_it_lacks) {
  const std::string known = did_of(true, "known");
  const std::string fresh = did_of(true, "fresh");
  other_.run("INSERT INTO bsky.actors (id, did, indexed_at) OVERRIDING SYSTEM VALUE VALUES (" +
             number_text(known) + ", '" + known + "', 'epoch')");
  const AccountNumber account = atproto::computed_account_number(kNumberKey, known);
  const std::vector<Reference> references{
      {.text = known},
      {.text = fresh},
      {.text = fresh},
      {.actor_id = account, .rkey = -5, .nsid = "a.b.c", .text = "art"},
      {.actor_id = account, .rkey = -5, .nsid = "app.bsky.graph.list", .text = "best"},
      {.actor_id = 0, .rkey = -6, .text = "https://example.com"}};
  for (int i = 0; i < 2; ++i) receive_references(other_, kNumberKey, references, clock_.now());
  EXPECT_EQ(at_other("SELECT count(*) || ' ' || count(*) FILTER (WHERE indexed_at = 'epoch') || "
                     "' ' || bool_and(id = skua.new_account_number(did)) FROM bsky.actors"),
            "2 1 true");
  EXPECT_EQ(at_other("SELECT string_agg(bsky.rkey_text(actor_id, collection_id, rkey), ' ' ORDER "
                     "BY text) FROM bsky.rkeys"),
            "art best https://example.com");
  EXPECT_EQ(at_other("SELECT id = skua.new_collection_number('a.b.c') FROM bsky.collections "
                     "WHERE nsid = 'a.b.c'"),
            "t");
}

TEST_F(ReferenceSenderTest, a_node_receives_replies_and_wakes_its_notifications) {
  other_.run(
      "WITH c AS (INSERT INTO skua.consumers (version, lanes, name, kind, role, state, policy, "
      "profile) VALUES (1, 1, 'notifications', 'projection', 'live', 'running', 'pause', "
      "'default') RETURNING id) INSERT INTO skua.consumer_lanes (pos, consumer_id, lane) SELECT 1, "
      "id, 0 FROM c");
  const std::string waits = "SELECT waiting_pos IS NOT NULL FROM skua.consumer_lanes";
  Reference reply{.account_group = 40, .seq = 1, .actor_id = 5, .rkey = 6, .text = ""};
  reply.distance = 2;
  reply.reply_actor = 7;
  reply.reply_rkey = 8;
  reply.reply_at = clock_.now();
  for (const char* expected : {"t", "f"}) {
    receive_references(other_, kNumberKey, std::vector{reply}, clock_.now());
    EXPECT_EQ(at_other(waits), expected) << "a repetition changes nothing";
    other_.run("UPDATE skua.consumer_lanes SET waiting_pos = NULL");
  }
  EXPECT_EQ(
      at_other("SELECT concat_ws(' ', post_actor, post_rkey, distance, actor_id, rkey, is_new) "
               "FROM skua.replies_below"),
      "5 6 2 7 8 t");
  EXPECT_EQ(at_other("SELECT count(*) FROM bsky.actors"), "0");
}

TEST_F(ReferenceSenderTest, a_number_that_another_account_has_is_refused) {
  const std::string one = did_of(false, "one");
  session().run("INSERT INTO bsky.actors (id, did, indexed_at) OVERRIDING SYSTEM VALUE VALUES (" +
                number_text(one) + ", 'did:plc:first', now())");
  for (const int many : {1, 100}) {
    auto batch = this->one(made_write(one, kFollow, kKey, 1, made_follow(one)));
    for (int i = 1; i < many; ++i) {
      const std::string did = did_of(false, "n" + std::to_string(i));
      batch.push_back({made_write(did, kFollow, kKey, 1, made_follow(did))});
    }
    try {
      resolve(batch);
      ADD_FAILURE() << "not refused";
    } catch (const postgres::DataError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("the account '" + one +
                                                   "' has the number of 'did:plc:first'"));
    }
  }
}

TEST_F(ReferenceSenderTest, a_number_that_another_collection_has_is_refused) {
  session().run(
      "INSERT INTO bsky.collections (id, nsid) VALUES (skua.new_collection_number('a.b.c'), "
      "'d.e.f')");
  auto batch = one(made_write(did_of(false, "a"), "a.b.c", kKey, 1, made_follow("did:plc:b")));
  batch.push_back({made_write(did_of(false, "a"), kPost, kKey, 1, test::made_post("text"))});
  const auto conflicts = resolve(batch);
  ASSERT_EQ(conflicts.size(), 1U);
  EXPECT_EQ(conflicts[0].index, 0U);
  EXPECT_EQ(conflicts[0].reason, "another collection has the number of 'a.b.c'");
}

TEST_F(ReferenceSenderTest, references_reach_their_node) {
  auto batch =
      one(made_write(did_of(false, "a"), kFollow, kKey, 1, made_follow(did_of(true, "c"))));
  EXPECT_TRUE(resolve(batch).empty());
  list(other_database_.url());
  postgres::Runtime runtime(database_.url(), clock_);
  ReferenceSender sender(runtime);
  sender.start();
  while (!waiting().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  sender.stop();
  EXPECT_EQ(at_other("SELECT string_agg(did, ' ') FROM bsky.actors"), did_of(true, "c"));
  EXPECT_EQ(sender.metrics().sent, 1U);
  EXPECT_EQ(sender.metrics().failures, 0U);

  session().run(
      "SELECT skua.resend_references('{40}'), skua.resend_references(ARRAY(SELECT "
      "generate_series(0, 63)))");
  EXPECT_EQ(waiting(), did_of(false, "a") + " " + did_of(true, "c"))
      << "the function takes any groups";
}

TEST_F(ReferenceSenderTest, many_accounts_are_several_lists) {
  std::vector<ResolvedEvent> batch;
  for (int i = 0; i < 450; ++i) {
    const std::string mentioned = did_of(i % 10 != 0, "m" + std::to_string(i) + "y");
    batch.push_back({made_write(did_of(false, "a"), kFollow, "k" + std::to_string(i), 1,
                                made_follow(mentioned))});
  }
  EXPECT_TRUE(resolve(batch).empty());
  EXPECT_EQ(value("SELECT string_agg(cardinality(dids)::text, ' ' ORDER BY cardinality(dids) DESC) "
                  "FROM skua.mentioned_accounts"),
            "200 200 5");
  list(other_database_.url());
  postgres::Runtime runtime(database_.url(), clock_);
  ReferenceSender sender(runtime);
  EXPECT_TRUE(sender.send_all(session(), {}).empty());
  EXPECT_EQ(waiting(), "");
  EXPECT_EQ(sender.metrics().sent, 405U);
  EXPECT_EQ(at_other("SELECT count(*) || ' ' || bool_and(id = skua.new_account_number(did)) "
                     "FROM bsky.actors WHERE did ~ '^did:plc:m'"),
            "405 true");
}

TEST_F(ReferenceSenderTest, a_process_that_is_stopped_counts_the_accounts_of_lists) {
  constexpr int kLists = 25;
  for (int i = 0; i < kLists; ++i) {
    session().run("INSERT INTO skua.mentioned_accounts (dids) VALUES ('{" +
                  did_of(true, "m" + std::to_string(i)) + "}')");
  }
  list(other_database_.url());
  postgres::Session holder(other_database_.url(), "test");
  holder.run("BEGIN; LOCK TABLE bsky.actors");
  postgres::Runtime runtime(database_.url(), clock_);
  ReferenceSender sender(runtime);
  std::vector<UnsentReferences> unsent;
  {
    std::jthread sending(
        [&](const std::stop_token& stop) { unsent = sender.send_all(session(), stop); });
    while (at_other("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = "
                    "'bsky.actors'::regclass") == "0") {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    sending.request_stop();
    holder.run("COMMIT");
  }
  ASSERT_EQ(unsent.size(), 1U);
  EXPECT_EQ(unsent[0].node, "second");
  EXPECT_EQ(unsent[0].problem, "");
  EXPECT_EQ(sender.metrics().sent + static_cast<std::uint64_t>(unsent[0].count), kLists);
  EXPECT_EQ(at_other("SELECT count(*) FROM bsky.actors"), std::to_string(sender.metrics().sent));
}

TEST_F(ReferenceSenderTest, a_process_that_ends_sends_what_waits_and_knows_the_rest) {
  std::vector<std::string> foreign{did_of(true, "c")};
  while (foreign.size() < 3) {
    std::string did = did_of(true, "d" + std::to_string(foreign.size()));
    const auto has_group_of = [&](const std::string& other) {
      return atproto::account_group(other) == atproto::account_group(did);
    };
    while (std::ranges::any_of(foreign, has_group_of)) did = did_of(true, did.substr(8) + "y");
    foreign.push_back(did);
  }
  auto batch = one(made_write(did_of(false, "a"), kFollow, kKey, 1, made_follow(foreign[0])));
  for (std::size_t i = 1; i < foreign.size(); ++i) {
    batch.push_back({made_write(did_of(false, "a"), kFollow, "3l2s5xxv2ze2" + std::to_string(i + 2),
                                1, made_follow(foreign[i]))});
  }
  EXPECT_TRUE(resolve(batch).empty());
  const auto group = [&](std::size_t i) {
    return std::to_string(atproto::account_group(foreign[i]));
  };
  session().run("INSERT INTO skua.nodes VALUES ('a', 'host=127.0.0.1 port=1', '{" + group(0) +
                "}'), ('b', '" + other_database_.url() + "', '{" + group(1) + "}')");
  postgres::Runtime runtime(database_.url(), clock_);
  ReferenceSender sender(runtime);
  const auto unsent = sender.send_all(session(), {}, std::chrono::milliseconds(0));
  ASSERT_EQ(unsent.size(), 2U);
  EXPECT_EQ(unsent[0].node, "") << "no node owns the group of the third account";
  EXPECT_EQ(unsent[0].problem, "");
  EXPECT_EQ(unsent[1].node, "a");
  EXPECT_EQ(unsent[1].count, 1);
  EXPECT_THAT(unsent[1].problem, testing::HasSubstr("refused"));
  EXPECT_THAT(unsent[1].text(),
              testing::AllOf(testing::StartsWith("1 reference to accounts of the node a was not "
                                                 "sent (connection to server"),
                             testing::EndsWith("`skua run` with this database sends them later")));
  EXPECT_EQ(unsent[0].text(),
            "1 reference to accounts of groups that no node owns was not sent: `skua run` with "
            "this database sends them later");
  EXPECT_EQ(sender.metrics().failures, 3U) << "three attempts";
  EXPECT_EQ(at_other("SELECT string_agg(did, ' ') FROM bsky.actors"), foreign[1]);
  session().run("UPDATE skua.nodes SET url = '" + other_database_.url() +
                "', owned = ARRAY(SELECT generate_series(32, 63)) WHERE name = 'b'");
  session().run("DELETE FROM skua.nodes WHERE name = 'a'");
  EXPECT_TRUE(sender.send_all(session(), {}).empty());
  EXPECT_EQ(waiting(), "");
  EXPECT_EQ(at_other("SELECT count(*) FROM bsky.actors"), "3");
}

TEST_F(ReferenceSenderTest, a_node_asks_the_others_for_their_references) {
  const std::string own = did_of(false, "a");
  other_.run("INSERT INTO bsky.actors (id, did, indexed_at) OVERRIDING SYSTEM VALUE VALUES (" +
             number_text(own) + ", '" + own + "', 'epoch')");
  list(other_database_.url());
  session().run(
      "INSERT INTO skua.nodes VALUES ('first', 'unused', ARRAY(SELECT generate_series(0, "
      "31)))");
  session().run("SELECT skua.request_references()");
  EXPECT_EQ(value("SELECT string_agg(account_group || text, ' ') FROM skua.waiting_references"),
            "32")
      << "one request, to the other node";
  postgres::Runtime runtime(database_.url(), clock_);
  ReferenceSender sender(runtime);
  sender.start();
  while (value("SELECT count(*) FROM skua.waiting_references") != "0") {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  sender.stop();
  EXPECT_EQ(at_other("SELECT string_agg(dids::text, ' ') FROM skua.mentioned_accounts"),
            "{" + own + "}");
  EXPECT_EQ(sender.metrics().failures, 0U);
}

TEST_F(ReferenceSenderTest, a_node_that_refuses_delays_no_other_one) {
  const std::string foreign = did_of(true, "c");
  const auto group = std::to_string(atproto::account_group(foreign));
  std::string elsewhere = did_of(true, "d");
  while (std::to_string(atproto::account_group(elsewhere)) == group)
    elsewhere = did_of(true, elsewhere.substr(8) + "y");
  auto batch = one(made_write(did_of(false, "a"), kFollow, kKey, 1, made_follow(foreign)));
  batch.push_back(
      {made_write(did_of(false, "a"), kFollow, "3l2s5xxv2ze2d", 1, made_follow(elsewhere))});
  EXPECT_TRUE(resolve(batch).empty());
  // The first node of the list owns other groups than listed, and the second address is closed.
  test::Database third_database;
  postgres::Session third(third_database.url(), "test");
  tables::make_node(third, atproto::GroupSet::parse("0").value(), kNumberKey);
  session().run("INSERT INTO skua.nodes VALUES ('a', '" + third_database.url() + "', '{" + group +
                "}'), ('b', 'host=127.0.0.1 port=1', '{" + group + "}'), ('c', '" +
                other_database_.url() + "', '{" +
                std::to_string(atproto::account_group(elsewhere)) + "}')");
  postgres::Runtime runtime(database_.url(), clock_);
  ReferenceSender sender(runtime);
  sender.start();
  while (waiting() != foreign) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  while (sender.metrics().failures < 2) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  sender.stop();
  EXPECT_EQ(at_other("SELECT string_agg(did, ' ') FROM bsky.actors"), elsewhere);
  EXPECT_EQ(third.run("SELECT count(*) FROM bsky.actors").int8(0, 0), 0);
}

}  // namespace
}  // namespace skua::ids::reference_sender_test
