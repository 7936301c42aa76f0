#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "atproto/sha256.hpp"
#include "support/postgres.hpp"
#include "tables/dead_letters.hpp"

namespace skua::tables::dead_letter_table_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Ids = std::vector<std::int64_t>;

const ReplayLease kOurs{.owner = "ours"};
const ReplayLease kTheirs{.owner = "theirs"};
/// Its lease ends at once.
const ReplayLease kShort{.owner = "short", .duration = std::chrono::seconds(0)};

class DeadLetterTableTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  /// Writes a letter and returns its number.
  std::int64_t write(DeadLetter letter) {
    const std::string key = letter.key;
    write_dead_letters(session(), {std::move(letter)}, Timestamp(std::chrono::seconds(++second_)));
    return std::stoll(value("SELECT id FROM skua.dead_letter WHERE key = '" + key + "'"));
  }
  std::int64_t write(const std::string& key, const std::string& error = "bad") {
    return write({"indexer", key, "did:plc:a", {1, 2}, error, ""});
  }

  std::string status(std::int64_t id) {
    return value("SELECT status FROM skua.dead_letter WHERE id = " + std::to_string(id));
  }
  Ids listed(const LetterFilter& filter, std::size_t limit = 100) {
    Ids ids;
    for (const LetterRow& row : list_letters(session(), filter, limit)) ids.push_back(row.id);
    return ids;
  }

  int second_ = 0;
};

TEST_F(DeadLetterTableTest, a_letter_has_what_a_replay_needs) {
  const Bytes block = {0, 1, 2, 255};
  const atproto::Digest digest = atproto::sha256(block);
  const std::int64_t id =
      write({"indexer", "relay:a.test 5 at://did:plc:a/x.y.z/k", "did:plc:a", block, "refused",
             "23514", "relay:a.test", "x.y.z/k", "create", 77, digest});
  const LetterRow row = list_letters(session(), {.ids = {id}}, 2).at(0);
  EXPECT_EQ(row.status, LetterStatus::Dead);
  EXPECT_EQ(row.source, "relay:a.test");
  EXPECT_EQ(row.path, "x.y.z/k");
  EXPECT_EQ(row.operation, "create");
  EXPECT_EQ(row.rev, 77);
  EXPECT_EQ(row.cid, digest);
  EXPECT_EQ(row.sqlstate, "23514");
  EXPECT_EQ(row.payload_bytes, 4);
  EXPECT_EQ(row.created_at, Timestamp(std::chrono::seconds(1)));
  EXPECT_FALSE(row.change || row.lease_owner || row.lease_until || row.finished_at || row.note);
  EXPECT_EQ(read_letter_payload(session(), id), block);
}

TEST_F(DeadLetterTableTest, a_long_payload_is_read_whole) {
  DeadLetter letter{"indexer", "k", "did:plc:a", {}, "bad", ""};
  for (int i = 0; i < 1'000; ++i) letter.payload.push_back(static_cast<std::uint8_t>(i));
  const Bytes bytes = letter.payload;
  EXPECT_EQ(read_letter_payload(session(), write(letter)), bytes);
  EXPECT_THAT(read_letter_payload(session(), 999), IsEmpty());
}

TEST_F(DeadLetterTableTest, letters_are_selected_by_every_field_the_newest_first) {
  const std::int64_t first = write("1", "Not UTF-8");
  const std::int64_t second = write({"indexer", "2", "did:plc:b", {}, "missing", ""});
  const std::int64_t third = write({"webhook", "3", "did:plc:a", {}, "not utf-8 at all", ""});
  EXPECT_THAT(listed({}), ElementsAre(third, second, first));
  EXPECT_THAT(listed({}, 2), ElementsAre(third, second));
  EXPECT_THAT(letter_ids(session(), {.did = "did:plc:a"}), ElementsAre(first, third));
  EXPECT_THAT(listed({.ids = {second, 999}}), ElementsAre(second));
  EXPECT_THAT(listed({.consumer = "webhook"}), ElementsAre(third));
  EXPECT_THAT(listed({.did = "did:plc:a"}), ElementsAre(third, first));
  EXPECT_THAT(listed({.error = "NOT utf-8"}), ElementsAre(third, first));
  EXPECT_THAT(listed({.error = "%"}), IsEmpty());
  EXPECT_THAT(listed({.older_than = std::chrono::days(20'000)}), ElementsAre(third, second, first));
  EXPECT_THAT(listed({.older_than = std::chrono::days(200'000)}), IsEmpty());
  discard_letters(session(), {.ids = {third}}, "");
  EXPECT_THAT(listed({.statuses = {LetterStatus::Discarded, LetterStatus::Resolved}}),
              ElementsAre(third));
  EXPECT_THAT(listed({.did = "did:plc:a", .statuses = {LetterStatus::Dead}}), ElementsAre(first));
}

TEST_F(DeadLetterTableTest, a_letter_has_one_lease_until_it_expires) {
  const std::int64_t id = write("1");
  const auto leased = lease_letter(session(), id, kOurs);
  ASSERT_TRUE(leased);
  EXPECT_EQ(leased->status, LetterStatus::Replaying);
  EXPECT_EQ(leased->lease_owner, "ours");
  EXPECT_GT(leased->lease_until, Timestamp(std::chrono::seconds(1)));
  EXPECT_FALSE(lease_letter(session(), id, kTheirs));
  EXPECT_FALSE(lease_letter(session(), id, kOurs));
  EXPECT_TRUE(release_replay(session(), id, "ours"));
  EXPECT_EQ(status(id), "dead");

  EXPECT_TRUE(lease_letter(session(), id, kShort));
  EXPECT_TRUE(lease_letter(session(), id, kTheirs));
  // The former owner changes nothing.
  EXPECT_FALSE(resolve_replay(session(), id, "short", ""));
  EXPECT_FALSE(fail_replay(session(), id, "short", "no", ""));
  EXPECT_FALSE(release_replay(session(), id, "short"));
  EXPECT_EQ(value("SELECT concat_ws('|', status, lease_owner, attempts) FROM skua.dead_letter"),
            "replaying|theirs|1");
  EXPECT_FALSE(lease_letter(session(), 999, kOurs));
}

TEST_F(DeadLetterTableTest, of_two_leases_at_once_one_succeeds) {
  const std::int64_t id = write("1");
  postgres::Session other(database_.url(), "test");
  session().begin();
  ASSERT_TRUE(lease_letter(session(), id, kOurs));
  bool theirs = true;
  std::thread thread([&] { theirs = lease_letter(other, id, kTheirs).has_value(); });
  while (postgres::Session(database_.url(), "test")
             .run("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                  "AND wait_event_type = 'Lock'")
             .int8(0, 0) == 0) {
    std::this_thread::yield();
  }
  session().commit();
  thread.join();
  EXPECT_FALSE(theirs);
}

TEST_F(DeadLetterTableTest, a_replay_succeeds_or_fails) {
  const std::int64_t good = write("1");
  const std::int64_t bad = write("2");
  ASSERT_TRUE(lease_letter(session(), good, kOurs) && lease_letter(session(), bad, kOurs));
  EXPECT_TRUE(resolve_replay(session(), good, "ours", "stored"));
  EXPECT_TRUE(fail_replay(session(), bad, "ours", "still\nbad", "22P05"));
  EXPECT_EQ(value("SELECT concat_ws('|', status, attempts, note, finished_at IS NOT NULL, "
                  "lease_owner, lease_until) FROM skua.dead_letter WHERE key = '1'"),
            "resolved|1|stored|t");
  EXPECT_EQ(value("SELECT concat_ws('|', status, attempts, error, sqlstate, finished_at, "
                  "lease_owner, last_at > created_at) FROM skua.dead_letter WHERE key = '2'"),
            "dead|2|still\\u{a}bad|22P05|t");
  EXPECT_FALSE(lease_letter(session(), good, kOurs));
  EXPECT_TRUE(lease_letter(session(), bad, kOurs));
}

TEST_F(DeadLetterTableTest, a_repetition_leaves_a_finished_letter_and_another_outcome_does_not) {
  const std::int64_t id = write("1");
  discard_letters(session(), {.ids = {id}}, "spam");
  write("1");
  EXPECT_EQ(status(id), "discarded");
  write("1", "another reason");
  EXPECT_EQ(value("SELECT concat_ws('|', status, attempts, finished_at, note) "
                  "FROM skua.dead_letter"),
            "dead|2");

  // The replay that ran meanwhile has lost its lease.
  lease_letter(session(), id, kOurs);
  write("1", "a third reason");
  EXPECT_EQ(status(id), "dead");
  EXPECT_FALSE(resolve_replay(session(), id, "ours", ""));
}

TEST_F(DeadLetterTableTest, resolving_and_discarding_skip_finished_and_leased_letters) {
  const std::int64_t dead = write("1");
  const std::int64_t leased = write("2");
  const std::int64_t expired = write("3");
  lease_letter(session(), leased, kOurs);
  lease_letter(session(), expired, kShort);
  EXPECT_EQ(resolve_letters(session(), {.ids = {dead, leased, expired}}, "mended\x1b"),
            (Ids{dead, expired}));
  EXPECT_EQ(value("SELECT string_agg(concat_ws('|', key, status, note, lease_owner), ', ' "
                  "ORDER BY id) FROM skua.dead_letter"),
            "1|resolved|mended\\u{1b}, 2|replaying|ours, 3|resolved|mended\\u{1b}");
  EXPECT_EQ(discard_letters(session(), {}, ""), Ids{});
  EXPECT_TRUE(release_replay(session(), leased, "ours"));
  EXPECT_EQ(discard_letters(session(), {}, ""), Ids{leased});
  EXPECT_EQ(status(leased), "discarded");
}

TEST_F(DeadLetterTableTest, purging_deletes_what_matches_and_is_not_leased) {
  const std::int64_t dead = write("1");
  const std::int64_t leased = write("2");
  const std::int64_t resolved = write("3");
  lease_letter(session(), leased, kOurs);
  resolve_letters(session(), {.ids = {resolved}}, "");
  // It was finished a moment ago, although it was rejected long ago.
  EXPECT_EQ(purge_letters(session(), {.statuses = {LetterStatus::Resolved},
                                      .older_than = std::chrono::hours(1)}),
            0U);
  EXPECT_EQ(purge_letters(session(), {.statuses = {LetterStatus::Resolved}}), 1U);
  EXPECT_EQ(purge_letters(session(), {}), 1U);
  EXPECT_EQ(listed({}), Ids{leased});
  EXPECT_EQ(status(dead), "");
}

TEST_F(DeadLetterTableTest, finished_letters_are_deleted_after_their_time) {
  const std::int64_t dead = write("1");
  const std::int64_t fresh = write("2");
  const std::int64_t old = write("3");
  resolve_letters(session(), {.ids = {fresh, old}}, "");
  session().run(
      "UPDATE skua.dead_letter SET finished_at = now() - interval '30 days 1 minute' "
      "WHERE id = " +
      std::to_string(old));
  EXPECT_EQ(purge_finished_letters(session()), 1U);
  EXPECT_EQ(listed({}), (Ids{fresh, dead}));
  EXPECT_EQ(purge_finished_letters(session()), 0U);
}

TEST_F(DeadLetterTableTest, an_indexers_letter_is_not_requested) {
  EXPECT_FALSE(request_replay(session(), write("1")));
  for (const auto status : {LetterStatus::Dead, LetterStatus::Requested, LetterStatus::Replaying,
                            LetterStatus::Resolved, LetterStatus::Discarded}) {
    EXPECT_EQ(letter_status(to_string(status)), status);
  }
  EXPECT_FALSE(letter_status("lost"));
}

}  // namespace
}  // namespace skua::tables::dead_letter_table_test
