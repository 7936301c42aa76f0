#include "writer/tables/labels.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "integration/account_events.hpp"
#include "support/made_labels.hpp"
#include "support/postgres.hpp"
#include "writer/dead_letter.hpp"

namespace skua::writer::labels_test {
namespace {

using event::UnresolvedEvent;
using nlohmann::json;
using test::actor_event;
using test::made_label;
using test::made_label_event;

const std::string kLabeler = "did:plc:labeler";
const std::string kAlice = "did:plc:alice";
const std::string kPostUri = "at://" + kAlice + "/app.bsky.feed.post/3l2s5xxv2ze2c";
const std::string kCid = "bafyreid42et2grtcpbhhlz4g2pdhoclnvblfkjr6bw5ztqa3qeq6nmqzmm";

std::string second(int number) {
  return format_datetime(Timestamp(std::chrono::seconds(1'767'000'000 + number)));
}

class LabelsTest : public test::AccountEventsTest {
 protected:
  std::size_t put(const json& label, std::int64_t seq) {
    return write_only(test::list(made_label_event(label, seq))).rows;
  }
  static json negated(json label) {
    label["neg"] = true;
    return label;
  }
  UnresolvedEvent status(bool active, const std::string& why, int when, bool purge = false) {
    UnresolvedEvent event = actor_event(kLabeler);
    event.body = event::AccountChange{
        active, why, Timestamp(std::chrono::seconds(1'767'000'000 + when)), purge, {1}};
    return event;
  }
  /// All of it but when it was indexed.
  std::string table() {
    return value(
        "SELECT string_agg(concat_ws(' ', a.did, s.did, c.nsid, subject_rkey, val, neg, cts, exp, "
        "seq, t.cid), E'\n' ORDER BY a.did, s.did, c.nsid, subject_rkey, val) "
        "FROM bsky.labels t JOIN bsky.actors a ON a.id = actor_id "
        "LEFT JOIN bsky.actors s ON s.id = subject_actor "
        "LEFT JOIN bsky.collections c ON c.id = subject_collection");
  }
};

TEST_F(LabelsTest, a_label_on_a_record_with_stubs_of_what_is_not_known) {
  json label = made_label(kLabeler, kPostUri, "spam", second(1));
  label["cid"] = kCid;
  EXPECT_EQ(put(label, 5), 1U);
  EXPECT_EQ(value("SELECT did || ' ' || subject_uri || ' ' || subject_did || ' ' || subject_cid || "
                  "' ' || val || ' ' || seq FROM bsky.labels_view"),
            kLabeler + " " + kPostUri + " " + kAlice + " " + kCid + " spam 5");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.actors"), "2");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts WHERE cid IS NULL"), "1");
}

TEST_F(LabelsTest, a_label_on_an_account_and_one_on_a_key_that_is_no_timestamp) {
  put(made_label(kLabeler, kAlice, "spam", second(1)), 1);
  put(made_label(kLabeler, "at://" + kAlice + "/app.bsky.actor.profile/self", "rude", second(1)),
      2);
  put(made_label(kLabeler, "at://" + kAlice + "/com.example.thing/any:key", "odd", second(1)), 3);
  EXPECT_EQ(value("SELECT string_agg(val || ' ' || subject_uri, ', ' ORDER BY seq) "
                  "FROM bsky.labels_view"),
            "spam at://" + kAlice + ", rude at://" + kAlice +
                "/app.bsky.actor.profile/self, odd at://" + kAlice + "/com.example.thing/any:key");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.labels WHERE subject_collection = 0 "
                  "AND subject_rkey = 0 AND cid IS NULL"),
            "1");
}

TEST_F(LabelsTest, a_label_on_another_uri_has_its_text_and_is_found_by_it) {
  const std::string page = "https://example.com/page?a=b#c";
  const std::string by_handle = "at://alice.example/app.bsky.feed.post/3l2s5xxv2ze2c";
  EXPECT_EQ(put(made_label(kLabeler, page, "spam", second(1)), 1), 1U);
  EXPECT_EQ(put(made_label(kLabeler, page, "spam", second(1)), 1), 0U) << "a replay";
  EXPECT_EQ(put(made_label(kLabeler, page, "rude", second(1)), 2), 1U);
  EXPECT_EQ(put(made_label("did:plc:other", page, "rude", second(1)), 2), 1U);
  EXPECT_EQ(put(made_label(kLabeler, page + "d", "other", second(1)), 3), 1U);
  EXPECT_EQ(put(made_label(kLabeler, by_handle, "moved", second(1)), 4), 1U);
  EXPECT_EQ(value("SELECT string_agg(concat_ws(' ', name, subject_uri, val, subject_did), ', ' "
                  "ORDER BY val, name, seq) FROM bsky.labels_view"),
            kLabeler + " " + by_handle + " moved, " + kLabeler + " " + page + "d other, " +
                kLabeler + " " + page + " rude, did:plc:other " + page + " rude, " + kLabeler +
                " " + page + " spam");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.rkeys"), "3") << "each text once";
  EXPECT_EQ(value("SELECT count(*) FROM bsky.actors"), "2") << "no account for a URI";
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts"), "0");
  EXPECT_EQ(
      value("SELECT string_agg(val, ',' ORDER BY val, name) FROM bsky.labels_of('" + page + "')"),
      "rude,rude,spam");
  EXPECT_EQ(put(negated(made_label(kLabeler, page, "spam", second(2))), 5), 1U);
  EXPECT_EQ(value("SELECT string_agg(val, ',') FROM bsky.labels_of('" + page + "')"), "rude,rude");
}

TEST_F(LabelsTest, labels_are_found_by_every_form_of_their_subject) {
  const std::string page = "https://bsky.app/profile/" + kAlice + "/post/3l2s5xxv2ze2c";
  put(made_label(kLabeler, kAlice, "account", second(1)), 1);
  put(made_label(kLabeler, kPostUri, "post", second(1)), 2);
  put(made_label(kLabeler, page, "page", second(1)), 3);
  session().run("UPDATE bsky.actors SET handle = 'alice.test' WHERE did = '" + kAlice + "'");
  const auto found = [&](const std::string& subject) {
    return value("SELECT string_agg(val, ',' ORDER BY val) FROM bsky.labels_of('" + subject + "')");
  };
  for (const std::string& account :
       {kAlice, "at://" + kAlice, std::string("alice.test"), std::string("@alice.test"),
        "https://bsky.app/profile/" + kAlice}) {
    EXPECT_EQ(found(account), "account") << account;
  }
  EXPECT_EQ(found(kPostUri), "post");
  EXPECT_EQ(found("at://alice.test/app.bsky.feed.post/3l2s5xxv2ze2c"), "post");
  EXPECT_EQ(found(page), "page,post") << "the address of the post, and the URI itself";
  EXPECT_EQ(found("https://example.com/"), "");
  EXPECT_EQ(found("nobody.test"), "");
}

TEST_F(LabelsTest, a_withdrawn_label_stays_as_a_row_and_out_of_the_view) {
  const json label = made_label(kLabeler, kPostUri, "spam", second(1));
  put(label, 1);
  EXPECT_EQ(put(negated(made_label(kLabeler, kPostUri, "spam", second(2))), 2), 1U);
  EXPECT_EQ(value("SELECT count(*) FROM bsky.labels_view"), "0");
  EXPECT_EQ(put(label, 1), 0U) << "a replay does not bring it back";
  EXPECT_EQ(value("SELECT neg || ' ' || seq FROM bsky.labels"), "true 2");
  EXPECT_EQ(put(made_label(kLabeler, kPostUri, "spam", second(3)), 3), 1U);
  EXPECT_EQ(value("SELECT count(*) FROM bsky.labels_view"), "1");
}

TEST_F(LabelsTest, a_replay_changes_nothing_indexed_at_included) {
  const json label = made_label(kLabeler, kPostUri, "spam", second(1));
  put(label, 1);
  const std::string before = value("SELECT t::text FROM bsky.labels t");
  clock_.advance(std::chrono::hours(1));
  const auto outcome = write_only(test::list(made_label_event(label, 1)));
  EXPECT_EQ(outcome.rows, 0U);
  EXPECT_EQ(outcome.unchanged, 1U);
  EXPECT_EQ(value("SELECT t::text FROM bsky.labels t"), before);
}

TEST_F(LabelsTest, an_expired_label_is_not_in_force) {
  json label = made_label(kLabeler, kAlice, "spam", second(1));
  label["exp"] = "2026-01-02T00:00:00Z";
  put(label, 1);
  label = made_label(kLabeler, kAlice, "rude", second(1));
  label["exp"] = "9999-01-02T00:00:00Z";
  put(label, 2);
  EXPECT_EQ(value("SELECT string_agg(val, ',') FROM bsky.labels_view"), "rude");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.labels"), "2");
}

TEST_F(LabelsTest, of_equal_times_the_later_number_counts) {
  put(made_label(kLabeler, kAlice, "spam", second(1)), 7);
  EXPECT_EQ(put(negated(made_label(kLabeler, kAlice, "spam", second(1))), 8), 1U);
  EXPECT_EQ(put(made_label(kLabeler, kAlice, "spam", second(1)), 6), 0U);
  EXPECT_EQ(value("SELECT neg FROM bsky.labels"), "t");
}

/// Whatever the order and wherever batches end, and however often a label comes.
TEST_F(LabelsTest, every_order_gives_the_same_table) {
  std::mt19937 random(5);
  std::vector<std::pair<json, std::int64_t>> labels;
  for (int seq = 1; seq <= 120; ++seq) {
    const std::string labeler = kLabeler + std::to_string(random() % 2);
    const std::array uris = {kAlice, kPostUri.substr(0, kPostUri.size() - 1) + "cde"[random() % 3],
                             std::string("https://example.com/") + "ab"[random() % 2]};
    const std::string& uri = uris.at(random() % 3);
    json label = made_label(labeler, uri, random() % 2 == 0 ? "spam" : "rude",
                            second(static_cast<int>(random() % 20)));
    if (random() % 3 == 0) label["neg"] = true;
    if (random() % 4 == 0) label["exp"] = second(1'000);
    labels.emplace_back(std::move(label), seq);
  }
  const auto write_all = [&] {
    for (std::size_t at = 0; at < labels.size();) {
      std::vector<UnresolvedEvent> batch;
      const std::size_t end = std::min(labels.size(), at + 1 + random() % 9);
      for (; at < end; ++at) {
        batch.push_back(made_label_event(labels[at].first, labels[at].second));
      }
      write_only(std::move(batch));
    }
  };
  write_all();
  const std::string expected = table();
  ASSERT_NE(expected, "");
  for (int round = 0; round < 3; ++round) {
    if (round > 0) session().run("DELETE FROM bsky.labels");
    std::shuffle(labels.begin(), labels.end(), random);
    write_all();
    EXPECT_EQ(table(), expected) << "round " << round;
  }
}

TEST_F(LabelsTest, an_inactive_labelers_labels_leave_the_view) {
  put(made_label(kLabeler, kAlice, "spam", second(1)), 1);
  write(status(false, "deactivated", 5));
  EXPECT_EQ(value("SELECT count(*) FROM bsky.labels_view"), "0");
  put(made_label(kLabeler, kAlice, "rude", second(2)), 2);
  write(status(true, "", 6));
  EXPECT_EQ(value("SELECT count(*) FROM bsky.labels_view"), "2");
}

TEST_F(LabelsTest, a_deleted_labelers_labels_go_and_do_not_come_back) {
  put(made_label(kLabeler, kAlice, "spam", second(1)), 1);
  put(made_label("did:plc:other", kAlice, "spam", second(1)), 1);
  put(made_label("did:plc:other", "at://" + kLabeler, "bad-labeler", second(1)), 2);
  EXPECT_EQ(write(status(false, "deleted", 5, true)), 1U);
  EXPECT_EQ(put(made_label(kLabeler, kAlice, "spam", second(1)), 1), 0U) << "a replay";
  EXPECT_EQ(put(made_label(kLabeler, kAlice, "rude", second(4)), 2), 0U) << "older";
  EXPECT_EQ(value("SELECT string_agg(val, ',' ORDER BY val) FROM bsky.labels"), "bad-labeler,spam");
  write(status(true, "", 8));
  EXPECT_EQ(put(made_label(kLabeler, kAlice, "new", second(9)), 3), 1U);
}

TEST_F(LabelsTest, what_is_rejected_is_a_dead_letter_with_its_bytes) {
  std::vector<event::ResolvedEvent> batch =
      resolved(test::list(made_label_event(made_label(kLabeler, kAlice, "spam"), 4),
                          made_label_event(made_label(kLabeler, kAlice, "rude"), 4, 1)));
  reject(batch[0], "for a test");
  writer_.write(session(), test::pointers_to(batch), clock_.now());
  write_dead_letter(session(), sources_, batch[1], postgres::DataError("refused", "22000"),
                    clock_.now());
  EXPECT_EQ(value("SELECT string_agg(key || ' ' || error, ', ' ORDER BY id) FROM skua.dead_letter "
                  "WHERE length(payload) > 50"),
            "relay:test 4 " + kLabeler + "/labels/0 for a test, relay:test 4 " + kLabeler +
                "/labels/1 refused");
}

}  // namespace
}  // namespace skua::writer::labels_test
