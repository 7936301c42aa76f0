#include "streams/log_pages.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/account_number.hpp"
#include "streams/change_event.hpp"
#include "streams/feed_database.hpp"
#include "streams/leased/letter_event.hpp"
#include "support/postgres.hpp"
#include "tables/record_key.hpp"

namespace skua::streams::log_pages_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class LogPagesTest : public test::FeedTest {
 protected:
  ChangePage page(std::int64_t from, const ChangeFilter& filter = {},
                  const PageLimits& limits = {}) {
    auto page = read_page(session(), 1, from, 0, filter, limits);
    if (!page) throw std::runtime_error("no page");
    return *std::move(page);
  }
  static std::string positions(const ChangePage& page) {
    std::string text;
    for (const auto& event : page.events) text += std::to_string(event->pos) + " ";
    return text + "then " + std::to_string(page.next);
  }
};

TEST_F(LogPagesTest, an_empty_log_has_an_empty_page) {
  const auto state = read_log_state(session());
  EXPECT_EQ(state.timeline, 1);
  EXPECT_EQ(state.oldest, 1);
  EXPECT_EQ(state.end, 1);
  EXPECT_EQ(positions(page(1)), "then 1");
}

TEST_F(LogPagesTest, a_record_has_names_its_references_and_its_content) {
  store_like(kFirst);
  append({like(kFirst)}, {{.role = tables::ReferenceRole::Like, .delta = 1, .target = {2, 1, 0}},
                          {.role = tables::ReferenceRole::Following, .target = {3, 0, 0}}});
  const auto found = page(1);
  ASSERT_EQ(positions(found), "1 then 2");
  const auto& event = *found.events[0];
  EXPECT_EQ(event.kind, "record");
  EXPECT_EQ(event.op, "create");
  EXPECT_EQ(event.did, "did:plc:1");
  EXPECT_EQ(event.collection, "app.bsky.feed.like");
  EXPECT_EQ(event.rkey, "2222222222222");
  EXPECT_EQ(event.rev, "2222222222227");
  EXPECT_THAT(event.cid, StartsWith("bafyrei"));
  EXPECT_FALSE(event.is_superseded);
  EXPECT_THAT(event.record, HasSubstr(R"("$type": "app.bsky.feed.like")"));
  EXPECT_THAT(event.record,
              HasSubstr(R"("uri": "at://did:plc:2/app.bsky.feed.post/2222222222222")"));
  ASSERT_EQ(event.references.size(), 2U);
  EXPECT_EQ(event.references[0].target, "at://did:plc:2/app.bsky.feed.post/2222222222222");
  EXPECT_EQ(event.references[1].target, "did:plc:3");
  EXPECT_EQ(event.references[0].role, "like");
  EXPECT_EQ(event.references[1].role, "following");
  EXPECT_EQ(event.references[1].delta, 0);
}

TEST_F(LogPagesTest, a_record_that_changed_later_is_superseded) {
  store_like(kFirst, 2);
  append({like(kFirst, 1), like(kFirst, 2), like(kFirst + 1, 1)});
  const auto found = page(1);
  ASSERT_EQ(found.events.size(), 3U);
  EXPECT_TRUE(found.events[0]->is_superseded);
  EXPECT_EQ(found.events[0]->record, "");
  EXPECT_FALSE(found.events[1]->is_superseded);
  EXPECT_NE(found.events[1]->record, "");
  EXPECT_TRUE(found.events[2]->is_superseded) << "deleted";
}

TEST_F(LogPagesTest, a_record_that_violates_its_lexicon_is_in_another_table) {
  session().run(
      "INSERT INTO bsky.records (actor_id, collection_id, rkey, rev, indexed_at, cid, record, "
      "invalid_reason) VALUES (1, 2, 0, 5, now(), decode(rpad('01', 64, '0'), 'hex'), "
      "'{\"a\": 1}', 'wrong')");
  append({like(kFirst)});
  EXPECT_EQ(page(1).events.at(0)->record, R"({"a": 1})");
}

TEST_F(LogPagesTest, accounts_handles_and_labels) {
  session().run(
      "UPDATE bsky.actors SET active = false, status = 'suspended', handle = 'a.test', "
      "handle_valid = true WHERE did = 'did:plc:1'; "
      "INSERT INTO bsky.labels (actor_id, subject_actor, subject_collection, subject_rkey, val, "
      "neg, cts, seq, indexed_at) VALUES (3, 1, 0, 0, 'spam', false, '2026-01-01', 1, now()), "
      "(3, 1, 0, 0, 'gone', true, '2026-01-01', 1, now())");
  append({{.kind = tables::ChangeKind::Account, .actor_id = 1},
          {.kind = tables::ChangeKind::Handle, .actor_id = 1},
          {.kind = tables::ChangeKind::Label, .actor_id = 3, .val = "spam"},
          {.kind = tables::ChangeKind::Label, .actor_id = 3, .val = "gone"},
          {.kind = tables::ChangeKind::Bootstrap}},
         {{.change = 2, .delta = 1, .target = {1, 0, 0}},
          {.change = 3, .delta = 1, .target = {1, 0, 0}}});
  const auto found = page(1);
  ASSERT_EQ(found.events.size(), 5U);
  EXPECT_EQ(found.events[0]->kind, "account");
  EXPECT_EQ(found.events[0]->active, false);
  EXPECT_EQ(found.events[0]->status, "suspended");
  EXPECT_EQ(found.events[1]->handle, "a.test");
  EXPECT_EQ(found.events[1]->handle_valid, true);
  EXPECT_EQ(found.events[2]->val, "spam");
  EXPECT_EQ(found.events[2]->label, R"({"cts": "2026-01-01T00:00:00.000Z"})");
  EXPECT_EQ(found.events[2]->references.at(0).target, "did:plc:1");
  EXPECT_EQ(found.events[3]->label, "") << "withdrawn by a later change";
  EXPECT_EQ(found.events[4]->kind, "bootstrap");
  EXPECT_EQ(found.events[4]->did, "");
}

class MessagePagesTest : public LogPagesTest {
 protected:
  void enqueue(const std::string& topic, const std::string& key, const std::string& payload) {
    session().run("SELECT skua.enqueue('" + topic + "', '" + key + "', '" + payload +
                  "', '{\"n\": 1}')");
    session().run("SELECT skua.sequence_messages(0, 100, 1000000)");
  }
  static ChangeFilter topics(ChangeFilter::Names names) { return {.topics = std::move(names)}; }
};

TEST_F(MessagePagesTest, a_message_has_its_content) {
  enqueue("orders", "7", R"({"total": 5})");
  const auto found = page(1);
  ASSERT_EQ(positions(found), "1 then 2");
  const ChangeEvent& event = *found.events[0];
  EXPECT_EQ(event.kind, "message");
  EXPECT_EQ(event.op, "create");
  EXPECT_EQ(event.did, "");
  EXPECT_EQ(event.val, "");
  EXPECT_EQ(event.topic, "orders");
  ASSERT_TRUE(event.message);
  EXPECT_EQ(event.message->id, 1);
  EXPECT_EQ(event.message->key, "7");
  EXPECT_EQ(event.message->payload, R"({"total": 5})");
  EXPECT_EQ(event.message->headers, R"({"n": 1})");
  EXPECT_LE(event.message->enqueued_at, event.at);
}

TEST_F(MessagePagesTest, topics_are_chosen_without_a_read_of_the_others) {
  enqueue("orders", "7", "1");
  enqueue("invoices", "7", "2");
  enqueue("orders", "7", "3");
  const ChangeFilter filter = topics({"invoices"});
  EXPECT_EQ(positions(page(1, filter)), "2 then 4");
  const auto all = read_page(session(), 1, 1, 0, {}, {}, {},
                             [&](const ChangeEvent& event) { return filter.passes(event); });
  ASSERT_EQ(positions(*all), "1 2 3 then 4");
  EXPECT_FALSE(all->events[0]->message);
  EXPECT_TRUE(all->events[1]->message);
}

TEST_F(MessagePagesTest, records_and_messages_share_the_size_of_a_page) {
  add_likes(kFirst, 2);
  for (int i = 0; i < 4; ++i) enqueue("orders", "7", "\"" + std::string(1'000, 'x') + "\"");
  add_likes(kFirst + 2, 2);
  const auto positions_of = [&](std::size_t bytes) {
    std::string text;
    std::int64_t next = 1;
    while (next < 9) {
      const auto part = page(next, {}, {.bytes = bytes});
      for (const auto& event : part.events) {
        text += std::to_string(event->pos) + " ";
        EXPECT_TRUE(event->kind == "record" ? !event->record.empty() : event->message.has_value());
      }
      if (part.next == next) return text + "stops";
      next = part.next;
      text += "| ";
    }
    return text;
  };
  EXPECT_EQ(positions_of(1'000'000), "1 2 3 4 5 6 7 8 | ");
  for (const std::size_t bytes : {1UL, 10UL, 500UL, 1'500UL, 2'500UL, 6'000UL}) {
    std::string text = positions_of(bytes);
    std::erase(text, '|');
    std::erase(text, ' ');
    EXPECT_EQ(text, "12345678") << bytes;
  }
}

TEST_F(MessagePagesTest, the_changes_of_a_key_are_in_one_lane) {
  enqueue("orders", "a", "1");
  enqueue("orders", "a", "2");
  const std::int64_t number =
      session().run("SELECT skua.message_key_number('orders', 'a')").int8(0, 0);
  std::string found;
  for (std::int32_t lane = 0; lane < 4; ++lane) {
    const auto part = read_page(session(), 1, 1, 0, {}, {}, {.lane = lane, .lanes = 4});
    if (!part->events.empty()) found += std::to_string(lane) + ": " + positions(*part);
  }
  EXPECT_EQ(found, std::to_string(number & 3) + ": 1 2 then 3");
  EXPECT_EQ(positions(*read_page(session(), 1, 1, 0, {}, {}, {.only = number})), "1 2 then 3");
  EXPECT_EQ(positions(*read_page(session(), 1, 1, 0, {}, {}, {.without = {number}})), "then 3");
}

TEST_F(MessagePagesTest, a_message_that_the_log_dropped_is_no_event) {
  enqueue("orders", "a", "1");
  session().run("DELETE FROM skua.messages");
  EXPECT_EQ(read_page(session(), 1, 1, 0, {}, {}), std::nullopt);
}

TEST_F(LogPagesTest, a_label_on_another_uri_has_its_text) {
  const std::int64_t number = tables::rkey_number("https://example.com").value;
  session().run(
      "INSERT INTO bsky.rkeys (actor_id, collection_id, rkey, text) VALUES (0, 0, " +
      std::to_string(number) + ", 'https://example.com'); " +
      "INSERT INTO bsky.labels (actor_id, subject_actor, subject_collection, subject_rkey, val, "
      "neg, cts, seq, indexed_at) VALUES (3, 0, 0, " +
      std::to_string(number) + ", 'spam', false, '2026-01-01', 1, now())");
  append({{.kind = tables::ChangeKind::Label, .actor_id = 3, .val = "spam"}},
         {{.change = 0, .delta = 1, .target = {0, 0, number}}});
  const auto found = page(1);
  ASSERT_EQ(found.events.size(), 1U);
  EXPECT_EQ(found.events[0]->references.at(0).target, "https://example.com");
  EXPECT_EQ(found.events[0]->label, R"({"cts": "2026-01-01T00:00:00.000Z"})");
}

TEST_F(LogPagesTest, a_page_begins_and_ends_inside_a_block) {
  std::vector<tables::Change> changes;
  changes.reserve(10);
  for (int i = 0; i < 10; ++i) changes.push_back(like(i));
  append(changes);
  append(changes);
  EXPECT_EQ(positions(page(8, {}, {.changes = 5})), "8 9 10 11 12 then 13");
  EXPECT_EQ(positions(page(20, {}, {.changes = 5})), "20 then 21");
  EXPECT_EQ(positions(page(21)), "then 21");
}

TEST_F(LogPagesTest, the_filter_selects_and_the_page_still_advances) {
  append({like(0, 1, 1), like(0, 1, 2), like(1, 1, 1)});
  EXPECT_EQ(positions(page(1, {.dids = {"did:plc:2"}})), "2 then 4");
  EXPECT_EQ(positions(page(1, {.dids = {"did:plc:9"}})), "then 4");
}

TEST_F(LogPagesTest, the_records_of_a_page_have_a_limit) {
  add_likes(0, 4);
  const auto bytes = page(1).events.at(0)->record.size();
  EXPECT_EQ(positions(page(1, {}, {.bytes = 2 * bytes})), "1 2 then 3");
  EXPECT_EQ(positions(page(1, {}, {.bytes = 1})), "1 then 2") << "one is always returned";
  const auto whole = page(1);
  const auto cut = page(1, {}, {.bytes = 2 * bytes});
  const auto rest = read_page(session(), 1, cut.next, cut.time_us, {}, {});
  EXPECT_EQ(rest->events.at(0)->time_us, whole.events.at(2)->time_us);
}

/// Counts the records whose text the server makes.
class LargeRecordsTest : public LogPagesTest {
 protected:
  void SetUp() override {
    LogPagesTest::SetUp();
    session().run(
        "CREATE SEQUENCE made; CREATE OR REPLACE FUNCTION bsky.record_json(t bsky.likes) RETURNS "
        "jsonb LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('made'); RETURN "
        "jsonb_build_object('a', repeat('x', CASE WHEN t.actor_id = 2 THEN 900000 ELSE 100 END)); "
        "END $$");
  }
  std::int64_t made() {
    return session()
        .run("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM made")
        .int8(0, 0);
  }
  /// Reads pages to the end of the log, and returns how many.
  int read_all(const ChangeFilter& filter = {}) {
    int pages = 0;
    for (std::int64_t at = 1; at < read_log_state(session()).end; ++pages) {
      const auto found = page(at, filter);
      std::size_t bytes = 0;
      for (const auto& event : found.events) bytes += event->record.size();
      EXPECT_LE(bytes, 2'000'000U);
      at = found.next;
    }
    return pages;
  }
  void add(std::int64_t rkey, AccountNumber actor_id) {
    store_like(rkey, 1, actor_id);
    append({like(rkey, 1, actor_id)});
  }
};

TEST_F(LargeRecordsTest, the_text_of_a_record_is_made_a_few_times_at_most) {
  for (int i = 0; i < 60; ++i) add(i, 2);
  read_all();
  EXPECT_LE(made(), 60 * 5) << "and not a whole page for each page";
}

/// Small records suggest that many fit.
TEST_F(LargeRecordsTest, small_records_before_large_ones_change_nothing) {
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20; ++i) add(round * 100 + i, 1);
    for (int i = 0; i < 40; ++i) add(round * 100 + i, 2);
  }
  read_all();
  EXPECT_LE(made(), 3 * (20 + 40 * 7));
}

TEST_F(LargeRecordsTest, a_page_of_small_records_needs_one_page) {
  for (int i = 0; i < 300; ++i) add(i, 1);
  EXPECT_EQ(read_all(), 1);
  EXPECT_EQ(made(), 300);
}

TEST_F(LargeRecordsTest, records_that_do_not_pass_the_filter_are_not_made) {
  for (int i = 0; i < 60; ++i) add(i, i % 10 == 0 ? 1 : 2);
  EXPECT_EQ(read_all({.dids = {"did:plc:1"}}), 1);
  EXPECT_EQ(made(), 6);
}

TEST_F(LargeRecordsTest, records_that_no_client_wants_are_not_made) {
  for (int i = 0; i < 20; ++i) add(i, i % 10 == 0 ? 1 : 2);
  const auto found = read_page(session(), 1, 1, 0, {}, {}, {},
                               [](const ChangeEvent& event) { return event.did == "did:plc:1"; });
  ASSERT_EQ(found->events.size(), 20U) << "the changes are there";
  EXPECT_EQ(made(), 2);
  EXPECT_TRUE(found->events[0]->is_read);
  EXPECT_NE(found->events[0]->record, "");
  EXPECT_FALSE(found->events[1]->is_read);
  EXPECT_FALSE(found->events[1]->is_superseded);
}

TEST_F(LogPagesTest, times_grow_from_change_to_change) {
  append({like(0), like(1)});
  append({like(2)});
  session().run("UPDATE skua.change_log SET at = '2026-01-01'");
  const auto found = page(1);
  const auto first = found.events.at(0)->time_us;
  EXPECT_EQ(first, 1'767'225'600'000'000);
  EXPECT_EQ(found.events.at(1)->time_us, first + 1);
  EXPECT_EQ(found.events.at(2)->time_us, first + 2) << "the clock stood still";
  EXPECT_EQ(found.time_us, first + 2);
}

TEST_F(LogPagesTest, positions_by_time) {
  for (int i = 0; i < 20; ++i) append({like(i), like(i + 100), like(i + 200)});
  session().run(
      "UPDATE skua.change_log SET at = timestamptz '2026-01-01' + pos * interval '1 second'");
  const auto state = read_log_state(session());
  ASSERT_EQ(state.end, 61);
  const Timestamp begin{std::chrono::microseconds(1'767'225'600'000'000)};
  const auto at = [&](int seconds) {
    return position_at(session(), state, begin + std::chrono::seconds(seconds));
  };
  EXPECT_EQ(at(0), 1);
  EXPECT_EQ(at(1), 1);
  EXPECT_EQ(at(2), 4);
  EXPECT_EQ(at(4), 4);
  EXPECT_EQ(at(57), 58);
  EXPECT_EQ(at(58), 58);
  EXPECT_EQ(at(59), 61) << "the end";
}

TEST_F(LogPagesTest, a_position_that_is_no_longer_kept_has_no_page) {
  add_likes(0, 3);
  session().run("DELETE FROM skua.change_log WHERE pos < 3");
  EXPECT_FALSE(read_page(session(), 1, 2, 0, {}, {}));
  EXPECT_FALSE(read_page(session(), 1, 1, 0, {}, {.changes = 1}));
  EXPECT_EQ(positions(page(3)), "3 then 4");
  EXPECT_EQ(read_log_state(session()).oldest, 3);
}

TEST_F(LogPagesTest, the_role_skua_reader_can_read_it) {
  add_likes(0, 1);
  session().run("SET ROLE skua_reader");
  EXPECT_EQ(read_log_state(session()).end, 2);
  EXPECT_EQ(page(1).events.at(0)->is_superseded, false);
  session().run("RESET ROLE");
}

TEST_F(LogPagesTest, the_event_for_a_letter_has_the_record_and_a_short_form) {
  store_like(kFirst);
  append({like(kFirst)}, {{.role = tables::ReferenceRole::Like, .delta = 1, .target = {2, 1, 0}}});
  append({{.operation = tables::ChangeOperation::Delete,
           .actor_id = 1,
           .collection_id = kLikes,
           .rkey = kFirst + 1,
           .rev = 6}});
  const auto letter = read_letter_event(session(), 1);
  EXPECT_EQ(letter.event, change_json(*page(1).events[0]));
  EXPECT_THAT(letter.event, HasSubstr(R"("record":{)"));
  EXPECT_THAT(letter.keys, HasSubstr(R"("record_omitted":true)"));
  EXPECT_THAT(letter.keys, HasSubstr(R"("role":"like")"));
  EXPECT_EQ(letter.keys.find(R"("record":)"), std::string::npos);
  EXPECT_EQ(read_letter_event(session(), 2).keys, "") << "a change without a record";
  EXPECT_EQ(read_letter_event(session(), 3).event, "") << "the log has no such change";
}

}  // namespace
}  // namespace skua::streams::log_pages_test
