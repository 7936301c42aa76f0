#include "recheck/recheck.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "integration/account_events.hpp"
#include "lexicon_store/lexicon_table.hpp"
#include "postgres/locks.hpp"
#include "support/change_log.hpp"
#include "support/made_events.hpp"
#include "support/postgres.hpp"
#include "support/projections.hpp"

namespace skua::recheck::recheck_test {
namespace {

using nlohmann::json;

const std::string kPost = "app.bsky.feed.post";
const std::string kNote = "com.example.note";
const std::string kAlice = "did:plc:alice";
const std::string kBob = "did:plc:bob";

std::string key(int n) {
  return atproto::Tid{(std::uint64_t{1} << 60) + static_cast<std::uint64_t>(n)}.to_string();
}

json note_lexicon(int longest) {
  const json title = {{"type", "string"}, {"maxLength", longest}};
  const json record = {
      {"type", "object"}, {"required", {"title"}}, {"properties", {{"title", title}}}};
  return {{"lexicon", 1},
          {"id", kNote},
          {"defs", {{"main", {{"type", "record"}, {"key", "tid"}, {"record", record}}}}}};
}

json note(const json& title) {
  return {{"$type", kNote}, {"title", title}};
}

class RecheckTest : public test::AccountEventsTest {
 protected:
  /// As an older version wrote it, which found the record invalid.
  void put_as_invalid(const std::string& did, const std::string& collection, int n,
                      const json& record, const std::string& reason) {
    auto event = test::made_write(did, collection, key(n), ++rev_, record);
    auto& decoded = std::get<event::RecordChange>(event.body).record;
    decoded.record = std::monostate{};
    decoded.json = record.dump();
    decoded.invalid_reason = reason;
    write(std::move(event));
  }
  void put(const std::string& did, const std::string& collection, int n, const json& record) {
    write(test::made_write(did, collection, key(n), ++rev_, record));
  }
  void add_lexicon(const json& document) {
    lexicon_store::add_lexicons(session(), {lexicon_store::read_document(document.dump())});
  }
  /// Checks all tables as another version of the program does. Returns the number of changed rows.
  std::int64_t recheck() {
    session().run("UPDATE skua.lexicon_checks SET lexicons = 'of another version'");
    return recheck_due();
  }
  std::int64_t recheck_due() {
    RecheckMetrics metrics;
    const Lexicons lexicons = present_lexicons(session());
    for (const writer::TableWriter* table : due_tables(session(), lexicons)) {
      while (!recheck_step({session(), ids_, clock_, metrics}, *table, lexicons).is_end) {
      }
    }
    EXPECT_TRUE(due_tables(session(), lexicons).empty());
    return static_cast<std::int64_t>(metrics.changed.value());
  }
  std::string invalid() {
    return value(
        "SELECT coalesce(string_agg(substr(a.did, 9) || '/' || (r.rkey & 255) || ' ' || "
        "r.invalid_reason, ', ' ORDER BY a.did, r.rkey), '') FROM bsky.records AS r JOIN "
        "bsky.actors AS a ON a.id = r.actor_id WHERE r.invalid_reason IS NOT NULL");
  }
  std::string posts() {
    return value(
        "SELECT coalesce(string_agg(substr(a.did, 9) || '/' || (p.rkey & 255), ', ' ORDER BY "
        "a.did, p.rkey), '') FROM bsky.posts AS p JOIN bsky.actors AS a ON a.id = p.actor_id "
        "WHERE p.cid IS NOT NULL");
  }
  /// The projections and the log must follow from the rows.
  void expect_consistency() {
    EXPECT_EQ(test::projection_differences(session()), "");
    EXPECT_EQ(test::change_log_differences(session()), "");
  }

  std::uint64_t rev_ = std::uint64_t{1} << 60;
};

TEST_F(RecheckTest, a_record_that_is_invalid_now_moves_to_the_records) {
  test::add_projections(session(), 100);
  put(kAlice, kPost, 1, test::made_post("root"));
  json reply = test::made_post("reply");
  const json root = {{"uri", "at://" + kAlice + "/" + kPost + "/" + key(1)},
                     {"cid", atproto::Cid::of(as_bytes("root")).to_string()}};
  reply["reply"] = {{"root", root}, {"parent", root}};
  put(kBob, kPost, 2, reply);
  put(kBob, kPost, 3, test::made_post("stays"));
  EXPECT_EQ(recheck(), 0);
  // An older version had no limit.
  session().run("UPDATE bsky.posts SET text = repeat('a', 301) WHERE text = 'reply'");
  const std::string rev = value("SELECT max(rev) - 1 FROM bsky.posts");
  const std::string indexed_at = value("SELECT indexed_at FROM bsky.posts WHERE text LIKE 'aa%'");
  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(recheck(), 1);
  EXPECT_EQ(posts(), "alice/1, bob/3");
  EXPECT_EQ(invalid(), "bob/2 text: more than 300 graphemes");
  EXPECT_EQ(value("SELECT rev FROM bsky.records"), rev);
  EXPECT_EQ(value("SELECT indexed_at FROM bsky.records"), indexed_at);
  EXPECT_EQ(value("SELECT record->'reply'->'root'->>'uri' FROM bsky.records"),
            root["uri"].get<std::string>());
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts WHERE cid IS NULL AND rev > 0"), "1")
      << "an empty row stays, as after a live event";
  expect_consistency();
  EXPECT_EQ(value("SELECT coalesce(sum(replies), 0) FROM bsky.post_stats"), "0");
  EXPECT_EQ(recheck(), 0);
}

TEST_F(RecheckTest, a_record_that_is_valid_now_moves_to_its_table) {
  test::add_projections(session(), 100);
  put_as_invalid(kAlice, kPost, 1, test::made_post("was too long"), "text: too long");
  put_as_invalid(kAlice, kPost, 2, {{"$type", kPost}, {"text", 7}}, "of an older version");
  EXPECT_EQ(posts(), "");
  EXPECT_EQ(recheck(), 2);
  EXPECT_EQ(posts(), "alice/1");
  EXPECT_EQ(value("SELECT text FROM bsky.posts WHERE cid IS NOT NULL"), "was too long");
  EXPECT_EQ(invalid(), "alice/2 text: must be a string") << "the reason is that of this version";
  expect_consistency();
  EXPECT_EQ(value("SELECT posts FROM bsky.actor_stats"), "1");
  EXPECT_EQ(recheck(), 0);
}

TEST_F(RecheckTest, a_record_whose_json_is_not_exact_keeps_its_reason) {
  put_as_invalid(kAlice, kPost, 1, test::made_post("text"), "record: had a NUL");
  session().run("UPDATE bsky.records SET record = jsonb_set(record, '{text}', '\"tex\"')");
  EXPECT_EQ(recheck(), 0);
  EXPECT_EQ(invalid(), "alice/1 record: had a NUL");
}

TEST_F(RecheckTest, a_row_that_the_database_refuses_stays) {
  for (int n = 1; n <= 5; ++n) {
    const std::string text = n == 3 ? "refused" : "accepted";
    put_as_invalid(kAlice, kPost, n, test::made_post(text), "text: too long");
  }
  session().run("ALTER TABLE bsky.posts ADD CONSTRAINT refuses CHECK (text <> 'refused')");
  EXPECT_EQ(recheck(), 4);
  EXPECT_EQ(posts(), "alice/1, alice/2, alice/4, alice/5");
  EXPECT_EQ(invalid(), "alice/3 text: too long");
  EXPECT_EQ(test::change_log_differences(session()), "");
}

TEST_F(RecheckTest, an_added_lexicon_checks_the_stored_records_and_a_removed_one_does_not) {
  put(kAlice, kNote, 1, note("short"));
  put(kAlice, kNote, 2, note("long long long"));
  put(kAlice, kNote, 3, note(7));
  put(kAlice, "com.example.other", 4, note(7));
  EXPECT_EQ(recheck_due(), 0);
  add_lexicon(note_lexicon(5));
  EXPECT_EQ(recheck_due(), 2);
  EXPECT_EQ(invalid(), "alice/2 title: more than 5 bytes, alice/3 title: must be a string");
  EXPECT_EQ(value("SELECT count(*) FROM lexicon.com_example_note"), "1");
  add_lexicon(note_lexicon(20));
  EXPECT_EQ(recheck_due(), 1);
  EXPECT_EQ(invalid(), "alice/3 title: must be a string");
  EXPECT_EQ(value("SELECT count(*) FROM lexicon.com_example_note"), "2");
  lexicon_store::remove_lexicon(session(), kNote);
  EXPECT_EQ(recheck_due(), 1);
  EXPECT_EQ(invalid(), "");
  EXPECT_EQ(test::change_log_differences(session()), "");
}

TEST_F(RecheckTest, only_tables_whose_lexicons_changed_are_due) {
  recheck_due();
  add_lexicon(note_lexicon(5));
  Lexicons lexicons = present_lexicons(session());
  EXPECT_FALSE(lexicons.is_settled) << "other processes may not apply it yet";
  const auto due = due_tables(session(), lexicons);
  ASSERT_EQ(due.size(), 1);
  EXPECT_EQ(due[0]->name(), "bsky.records");
  session().run("UPDATE skua.lexicon_state SET changed_at = changed_at - interval '6 seconds'");
  EXPECT_TRUE(present_lexicons(session()).is_settled);
  session().run("UPDATE skua.lexicon_state SET changed_at = now() + interval '1 hour'");
  EXPECT_TRUE(present_lexicons(session()).is_settled) << "the server's clock was set back";
  session().run(
      "INSERT INTO skua.dropped_indexes (name, relation, definition) VALUES ('a', 'b', 'c')");
  EXPECT_TRUE(due_tables(session(), lexicons).empty()) << "a bootstrap is open";
}

TEST_F(RecheckTest, documents_that_cannot_be_used_check_nothing) {
  session().run(fmt::format("INSERT INTO skua.lexicons (nsid, document) VALUES ('{}', '{}')", kNote,
                            R"({"lexicon":1,"id":"com.example.note","defs":{"main":7}})"));
  put(kAlice, kNote, 1, note(7));
  const Lexicons lexicons = present_lexicons(session());
  EXPECT_NE(lexicons.added->fault, "");
  for (const auto* table : due_tables(session(), lexicons))
    EXPECT_NE(table->name(), "bsky.records");
}

TEST_F(RecheckTest, a_row_that_changed_since_it_was_read_stays) {
  put_as_invalid(kAlice, kPost, 1, test::made_post("first"), "text: too long");
  // Another session holds the lock of the account and writes a newer version meanwhile.
  postgres::Session other(database_.url(), "other");
  postgres::Transaction transaction(other);
  postgres::lock_xact(
      other, {postgres::account_lock(other, static_cast<std::uint8_t>(records::RecordType::Post),
                                     kAlice)});
  std::jthread checker([this] { EXPECT_EQ(recheck(), 0); });
  postgres::Session watch(database_.url(), "watch");
  while (!test::a_session_waits_for_a_lock(watch)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  other.run("UPDATE bsky.records SET rev = rev + 1, invalid_reason = 'newer'");
  transaction.commit();
  checker.join();
  EXPECT_EQ(invalid(), "alice/1 newer");
}

TEST_F(RecheckTest, a_pass_goes_through_a_large_table_in_steps) {
  put(kAlice, kPost, 1, test::made_post("a"));
  session().run(
      "INSERT INTO bsky.posts (actor_id, rkey, rev, indexed_at, created_at, cid, text) SELECT "
      "p.actor_id, g, 1, now(), now(), p.cid, CASE WHEN g % 2 = 0 THEN 'short' ELSE repeat('a', "
      "301) END FROM bsky.posts AS p, generate_series(1000, 3999) AS g");
  int steps = 0;
  RecheckMetrics metrics;
  const Lexicons lexicons = present_lexicons(session());
  for (const writer::TableWriter* table : due_tables(session(), lexicons)) {
    while (!recheck_step({session(), ids_, clock_, metrics}, *table, lexicons).is_end) ++steps;
  }
  EXPECT_GE(steps, 3);
  EXPECT_EQ(metrics.changed.value(), 1'500);
  EXPECT_EQ(value("SELECT count(*) FROM bsky.posts WHERE cid IS NOT NULL"), "1501");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.records"), "1500");
  EXPECT_EQ(value("SELECT changed FROM skua.lexicon_checks WHERE table_name = 'bsky.posts'"),
            "1500");
}

TEST_F(RecheckTest, a_pass_begins_again_if_the_table_was_rewritten) {
  for (int n = 1; n <= 3; ++n) {
    put_as_invalid(kAlice, kPost, n, test::made_post(n == 2 ? "refused" : "a"), "text: too long");
  }
  session().run("ALTER TABLE bsky.posts ADD CONSTRAINT refuses CHECK (text <> 'refused')");
  RecheckMetrics metrics;
  const Lexicons lexicons = present_lexicons(session());
  const RecheckServices services{session(), ids_, clock_, metrics};
  // The failed row ends the step before the table does.
  ASSERT_FALSE(recheck_step(services, writer::records_table(), lexicons).is_end);
  const std::string place = value("SELECT next_row FROM skua.lexicon_checks");
  session().run("ALTER TABLE bsky.posts DROP CONSTRAINT refuses");
  session().run("VACUUM FULL bsky.records");
  while (!recheck_step(services, writer::records_table(), lexicons).is_end) {
  }
  EXPECT_NE(place, "(0,0)");
  EXPECT_EQ(posts(), "alice/1, alice/2, alice/3");
  EXPECT_EQ(metrics.changed.value(), 3);
}

TEST_F(RecheckTest, the_json_of_large_records_comes_in_parts_and_is_made_once) {
  for (int n = 1; n <= 80; ++n) put(kAlice, kNote, n, note(std::string(900'000, 'a')));
  add_lexicon(note_lexicon(1'000'000));
  RecheckMetrics metrics;
  const Lexicons lexicons = present_lexicons(session());
  std::vector<std::int64_t> parts;
  for (bool is_end = false; !is_end;) {
    const RecheckStep step =
        recheck_step({session(), ids_, clock_, metrics}, writer::records_table(), lexicons);
    parts.push_back(step.bytes / 900'000);
    is_end = step.is_end;
  }
  // They are small in the table: PostgreSQL compresses them.
  EXPECT_EQ(parts, (std::vector<std::int64_t>{32, 32, 16}));
  EXPECT_EQ(metrics.checked.value(), 80);
  add_lexicon(note_lexicon(5));
  EXPECT_EQ(recheck(), 80);
}

TEST_F(RecheckTest, a_running_process_checks_by_itself) {
  put(kAlice, kNote, 1, note(7));
  add_lexicon(note_lexicon(5));
  session().run("UPDATE skua.lexicon_state SET changed_at = changed_at - interval '6 seconds'");
  postgres::Runtime runtime(database_.url(), clock_);
  Rechecker rechecker(runtime, ids_, std::chrono::milliseconds(5));
  rechecker.start();
  while (invalid().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  rechecker.stop();
  EXPECT_EQ(rechecker.metrics().changed.value(), 1);
}

}  // namespace
}  // namespace skua::recheck::recheck_test
