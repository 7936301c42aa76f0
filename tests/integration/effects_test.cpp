#include "writer/effects.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "integration/account_events.hpp"
#include "support/change_log.hpp"
#include "support/made_events.hpp"
#include "support/made_labels.hpp"
#include "support/postgres.hpp"

namespace skua::writer::effects_test {
namespace {

using event::UnresolvedEvent;
using nlohmann::json;
using test::list;
using test::made_delete;
using test::made_post;
using test::made_write;

const std::string kAlice = "did:plc:alice";
const std::string kBob = "did:plc:bob";
const std::string kPost = "app.bsky.feed.post";
const std::string kLike = "app.bsky.feed.like";
const std::string kFollow = "app.bsky.graph.follow";

/// The n-th record key.
std::string key(int n) {
  return atproto::Tid{(std::uint64_t{1} << 60) + static_cast<std::uint64_t>(n)}.to_string();
}

std::string uri_of_post(int n) {
  return "at://" + kBob + "/" + kPost + "/" + key(n);
}

UnresolvedEvent like(int n, std::uint64_t rev, int post = 1) {
  return made_write(kAlice, kLike, key(n), rev, test::made_like(uri_of_post(post)));
}

class EffectsTest : public test::AccountEventsTest {
 protected:
  /// Writes a batch, and returns its changes and references in a line each.
  std::string changes(std::vector<UnresolvedEvent> events) {
    const std::string end = value("SELECT skua.change_log_end()");
    write(std::move(events));
    EXPECT_EQ(test::change_log_differences(session()), "");
    return value(
        "SELECT string_agg(line, E'\\n' ORDER BY pos, sort, line) FROM ("
        "SELECT c.pos, 0 AS sort, concat_ws(' ', kind, op, split_part(a.did, ':', 3), "
        "split_part(n.nsid, '.', 4), rkey & 255, nullif(rev, 0), val) AS line FROM skua.changes(" +
        end +
        ") AS c JOIN bsky.actors AS a ON a.id = c.actor_id "
        "LEFT JOIN bsky.collections AS n ON n.id = c.collection_id "
        "UNION ALL SELECT r.pos, 1, concat_ws(' ', '-', role, delta, split_part(a.did, ':', 3), "
        "split_part(n.nsid, '.', 4), rkey & 255) FROM skua.change_references(" +
        end +
        ") AS r JOIN bsky.actors AS a ON a.id = r.actor_id "
        "LEFT JOIN bsky.collections AS n ON n.id = r.collection_id) AS lines");
  }
};

TEST_F(EffectsTest, the_first_and_the_last_like_of_a_post_count) {
  EXPECT_EQ(changes(list(like(1, 10))), "record create alice like 1 10\n- like 1 bob post 1");
  EXPECT_EQ(changes(list(like(2, 11))), "record create alice like 2 11\n- like 0 bob post 1");
  EXPECT_EQ(changes(list(made_delete(kAlice, kLike, key(1), 12))),
            "record delete alice like 1 12\n- like 0 bob post 1");
  EXPECT_EQ(changes(list(made_delete(kAlice, kLike, key(2), 13))),
            "record delete alice like 2 13\n- like -1 bob post 1");
}

TEST_F(EffectsTest, of_two_likes_in_one_batch_one_counts) {
  EXPECT_EQ(changes(list(like(1, 10), like(2, 11), like(3, 11, 2))),
            "record create alice like 1 10\n- like 1 bob post 1\n"
            "record create alice like 2 11\n- like 0 bob post 1\n"
            "record create alice like 3 11\n- like 1 bob post 2");
  // One goes and another comes: the account likes the post before and after.
  EXPECT_EQ(changes(list(made_delete(kAlice, kLike, key(3), 12), like(4, 13, 2))),
            "record delete alice like 3 12\n- like 0 bob post 2\n"
            "record create alice like 4 13\n- like 0 bob post 2");
}

TEST_F(EffectsTest, an_update_moves_the_reference) {
  changes(list(like(1, 10)));
  EXPECT_EQ(changes(list(like(1, 11, 2))),
            "record update alice like 1 11\n"
            "- like -1 bob post 1\n- like 1 bob post 2");
}

TEST_F(EffectsTest, follows_and_blocks_refer_to_accounts) {
  const auto write_of = [](const std::string& collection, int n, std::uint64_t rev) {
    json record = test::made_follow(kBob);
    record["$type"] = collection;
    return made_write(kAlice, collection, key(n), rev, record);
  };
  EXPECT_EQ(changes(list(write_of(kFollow, 1, 10), write_of(kFollow, 2, 11),
                         write_of("app.bsky.graph.block", 3, 12))),
            "record create alice follow 1 10\n- follow 1 bob 0\n- following 1 alice 0\n"
            "record create alice follow 2 11\n- follow 0 bob 0\n"
            "record create alice block 3 12\n- block 1 bob 0");
}

TEST_F(EffectsTest, a_post_has_a_parent_and_a_quote) {
  json post = made_post("words");
  const std::string cid = atproto::Cid::of(as_bytes("post")).to_string();
  const auto reference = [&](int n) { return json{{"uri", uri_of_post(n)}, {"cid", cid}}; };
  post["reply"] = {{"root", reference(1)}, {"parent", reference(2)}};
  post["embed"] = {{"$type", "app.bsky.embed.record"}, {"record", reference(3)}};
  EXPECT_EQ(changes(list(made_write(kAlice, kPost, key(7), 10, post))),
            "record create alice post 7 10\n- post 1 alice 0\n- quote 1 bob post 3\n- reply 1 bob "
            "post 2");
  EXPECT_EQ(changes(list(made_delete(kAlice, kPost, key(7), 11))),
            "record delete alice post 7 11\n- post -1 alice 0\n- quote -1 bob post 3\n- reply -1 "
            "bob post 2");
}

TEST_F(EffectsTest, what_changes_no_content_is_no_change) {
  EXPECT_EQ(changes(list(made_delete(kBob, kPost, key(9), 5))), "") << "never seen";
  changes(list(like(1, 10)));
  EXPECT_EQ(changes(list(like(1, 10))), "") << "a repetition";
  EXPECT_EQ(changes(list(like(1, 12))), "") << "the same record in a newer revision";
  EXPECT_EQ(changes(list(like(1, 11, 2))), "") << "older";
  EXPECT_EQ(changes(list(like(5, 13), made_delete(kAlice, kLike, key(5), 14))), "")
      << "created and deleted in one batch";
}

TEST_F(EffectsTest, a_stub_that_receives_its_post_is_a_create) {
  changes(list(like(1, 10)));
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts WHERE cid IS NULL"), "1");
  const auto post = [](std::uint64_t rev) {
    return made_write(kBob, kPost, key(1), rev, made_post("words"));
  };
  EXPECT_EQ(changes(list(post(10))), "record create bob post 1 10\n- post 1 bob 0");
  EXPECT_EQ(changes(list(made_delete(kBob, kPost, key(1), 11))),
            "record delete bob post 1 11\n- post -1 bob 0");
  EXPECT_EQ(changes(list(post(12))), "record create bob post 1 12\n- post 1 bob 0");
}

TEST_F(EffectsTest, a_record_that_changes_its_table_is_one_update) {
  const auto write_of = [](std::uint64_t rev, const json& record) {
    return made_write(kAlice, kLike, key(1), rev, record, event::Operation::Update);
  };
  changes(list(like(1, 10)));
  EXPECT_EQ(changes(list(write_of(11, {{"subject", 5}}))),
            "record update alice like 1 11\n- like -1 bob post 1");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.records"), "1");
  EXPECT_EQ(changes(list(like(1, 12))), "record update alice like 1 12\n- like 1 bob post 1");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.records"), "0");
}

TEST_F(EffectsTest, the_changes_of_an_account_are_in_the_order_of_its_revisions) {
  EXPECT_EQ(changes(list(made_write(kAlice, kLike, key(1), 30, test::made_like(uri_of_post(1))),
                         made_write(kAlice, kPost, key(2), 20, made_post("words")),
                         made_write(kAlice, kFollow, key(3), 10, test::made_follow(kBob)))),
            "record create alice follow 3 10\n- follow 1 bob 0\n- following 1 alice 0\n"
            "record create alice post 2 20\n- post 1 alice 0\n"
            "record create alice like 1 30\n- like 1 bob post 1");
}

TEST_F(EffectsTest, statuses_and_handles_that_change_are_changes) {
  // The changes of handles are in the order of the numbers.
  session().run("UPDATE skua.account_groups SET numbers_have_group = false");
  const auto status = [](bool active, const std::string& why, int second, bool purge = false) {
    UnresolvedEvent event = test::actor_event(kAlice);
    event.body = event::AccountChange{active, why, test::at(second), purge, {20}};
    return event;
  };
  changes(list(like(1, 10)));
  EXPECT_EQ(changes(list(status(true, "", 1))), "") << "accounts are active at first";
  EXPECT_EQ(changes(list(status(false, "suspended", 2))), "account update alice 0");
  EXPECT_EQ(changes(list(status(false, "suspended", 3))), "");
  EXPECT_EQ(changes(list(test::claim(kAlice, "a.example", 4))), "handle update alice 0");
  EXPECT_EQ(changes(list(test::claim(kAlice, "a.example", 5))), "");
  EXPECT_EQ(changes(list(test::claim(kBob, "a.example", 6))),
            "handle update alice 0\nhandle update bob 0")
      << "of two claims the latest counts";
  EXPECT_EQ(changes(list(status(false, "deleted", 7, true))),
            "account delete alice 0\nrecord delete alice like 1 20\n- like -1 bob post 1");
}

TEST_F(EffectsTest, labels_are_set_and_negated) {
  const auto label = [](int second, bool neg) {
    json made =
        test::made_label(kAlice, uri_of_post(1), "spam",
                         format_datetime(Timestamp(std::chrono::seconds(1'767'000'000 + second))));
    if (neg) made["neg"] = true;
    return test::made_label_event(made, second);
  };
  EXPECT_EQ(changes(list(label(1, true))), "") << "it was not set";
  EXPECT_EQ(changes(list(label(2, false))), "label create alice 0 spam\n- label 1 bob post 1");
  EXPECT_EQ(changes(list(label(3, false))), "") << "the same label, newer";
  EXPECT_EQ(changes(list(label(4, true))), "label delete alice 0 spam\n- label -1 bob post 1");
}

}  // namespace
}  // namespace skua::writer::effects_test
