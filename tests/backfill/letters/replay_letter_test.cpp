#include "backfill/letters/replay_letter.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "backfill/queue/job_commands.hpp"
#include "event/json_event.hpp"
#include "support/made_events.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "tables/consumer_letters.hpp"
#include "tables/dead_letters.hpp"
#include "tables/repository_table.hpp"
#include "writer/dead_letter.hpp"
#include "writer/write_policy.hpp"

namespace skua::backfill::replay_letter_test {
namespace {

using test::made_delete;
using test::made_like;
using test::made_post;
using test::made_write;

const std::string kAlice = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
const std::string kPost = "app.bsky.feed.post";
const std::string kKey = "3l2s5xxv2ze2c";
const std::string kSource = "relay:a.test";

class ReplayLetterTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  /// Writes the letter of an event that PostgreSQL refused; returns its number.
  std::int64_t letter_of(event::UnresolvedEvent made) {
    event::ResolvedEvent event;
    event.event = std::move(made);
    return write(writer::dead_letter_of(kSource, event, "refused", "23514"));
  }
  std::int64_t write(const tables::DeadLetter& letter) {
    tables::write_dead_letters(session(), {letter}, clock_.now());
    return std::stoll(value("SELECT max(id) FROM skua.dead_letter"));
  }
  void write_live(event::UnresolvedEvent made) {
    std::array<event::ResolvedEvent, 1> events;
    events[0].event = std::move(made);
    ids::Resolver(session(), *ids_, clock_).resolve(events);
    const writer::RowWriter writer{writer::SourceNames(kSource)};
    const std::array<const event::ResolvedEvent*, 1> batch = {events.data()};
    writer::write_events(session(), writer, batch, clock_.now(), ids_->posts);
  }
  void save_head(std::uint64_t rev) {
    tables::RepositoryProgress progress;
    progress.row.did = kAlice;
    progress.row.head = {{rev}, atproto::Cid::of(as_bytes("tree"))};
    tables::save_repositories(session(), std::array{progress}, tables::Resync::Complete,
                              clock_.now());
  }
  ReplayedLetter replay(std::int64_t id, const tables::ReplayLease& lease = {.owner = "ours"}) {
    return replay_letter({session(), *ids_, clock_, lexicons_, filter_}, id, lease);
  }
  std::string letter(std::int64_t id) {
    return value(
        "SELECT concat_ws('|', status, attempts, error, note, lease_owner) "
        "FROM skua.dead_letter WHERE id = " +
        std::to_string(id));
  }
  std::string jobs() { return value("SELECT string_agg(did, ',') FROM skua.backfill_jobs"); }
  std::string posts() {
    return value(
        "SELECT string_agg(text || ' ' || rev, ', ' ORDER BY rkey) FROM bsky.posts "
        "WHERE cid IS NOT NULL");
  }

  test::ManualClock clock_;
  const std::unique_ptr<ids::SharedIds> ids_ = std::make_unique<ids::SharedIds>();
  writer::AddedLexicons lexicons_{clock_};
  tables::Filter filter_;
};

TEST_F(ReplayLetterTest, a_record_is_written_with_its_revision_and_logged) {
  save_head(7);
  const std::int64_t id = letter_of(made_write(kAlice, kPost, kKey, 7, made_post("refused")));
  const ReplayedLetter replayed = replay(id);
  EXPECT_EQ(replayed.end, ReplayEnd::Resolved);
  EXPECT_FALSE(replayed.resync);
  EXPECT_EQ(posts(), "refused 7");
  EXPECT_EQ(letter(id), "resolved|1|refused|written");
  EXPECT_EQ(jobs(), "");
  EXPECT_EQ(value("SELECT kind || ' ' || op || ' ' || rev FROM skua.changes(0)"),
            "record create 7");
  EXPECT_EQ(replay(id).end, ReplayEnd::NotDead);
}

TEST_F(ReplayLetterTest, a_record_of_an_older_commit_is_written_and_the_account_resynced) {
  save_head(9);
  const std::int64_t id = letter_of(made_write(kAlice, kPost, kKey, 7, made_post("refused")));
  const ReplayedLetter replayed = replay(id);
  EXPECT_EQ(replayed.end, ReplayEnd::Resolved);
  EXPECT_EQ(replayed.resync, kAlice);
  EXPECT_EQ(posts(), "refused 7");
  EXPECT_EQ(jobs(), kAlice);
  EXPECT_EQ(letter(id), "resolved|1|refused|written; a resync of the account is queued");
}

TEST_F(ReplayLetterTest, a_newer_record_and_a_tombstone_stay) {
  save_head(7);
  write_live(made_write(kAlice, kPost, kKey, 8, made_post("newer")));
  EXPECT_EQ(replay(letter_of(made_write(kAlice, kPost, kKey, 7, made_post("older")))).end,
            ReplayEnd::Resolved);
  EXPECT_EQ(posts(), "newer 8");
  const std::string other = "3l2s5xxv2ze2d";
  write_live(made_delete(kAlice, kPost, other, 8));
  const ReplayedLetter replayed =
      replay(letter_of(made_write(kAlice, kPost, other, 7, made_post("deleted"))));
  EXPECT_EQ(replayed.end, ReplayEnd::Resolved);
  EXPECT_EQ(replayed.text, "what is stored is not older; a resync of the account is queued");
  EXPECT_EQ(posts(), "newer 8");
}

TEST_F(ReplayLetterTest, a_delete_is_replayed_without_bytes) {
  write_live(made_write(kAlice, kPost, kKey, 5, made_post("old")));
  const std::int64_t id = letter_of(made_delete(kAlice, kPost, kKey, 7));
  const ReplayedLetter replayed = replay(id);
  EXPECT_EQ(replayed.end, ReplayEnd::Resolved);
  EXPECT_FALSE(replayed.resync);
  EXPECT_EQ(posts(), "");
}

TEST_F(ReplayLetterTest, a_record_that_is_refused_again_is_dead_with_the_new_reason) {
  session().run("ALTER TABLE bsky.posts ADD CONSTRAINT short CHECK (length(text) < 3)");
  const std::int64_t id = letter_of(made_write(kAlice, kPost, kKey, 7, made_post("too long")));
  const ReplayedLetter replayed = replay(id);
  EXPECT_EQ(replayed.end, ReplayEnd::Failed);
  EXPECT_NE(replayed.text.find("short"), std::string::npos) << replayed.text;
  EXPECT_EQ(value("SELECT concat_ws('|', status, attempts, sqlstate, error LIKE '%short%', "
                  "lease_owner) FROM skua.dead_letter"),
            "dead|2|23514|t");
  session().run("ALTER TABLE bsky.posts DROP CONSTRAINT short");
  EXPECT_EQ(replay(id).end, ReplayEnd::Resolved);
  EXPECT_EQ(posts(), "too long 7");
}

TEST_F(ReplayLetterTest, bytes_that_are_no_record_fail_again) {
  event::UnresolvedEvent made = made_write(kAlice, kPost, kKey, 7, made_post("x"));
  auto& change = std::get<event::RecordChange>(made.body);
  change.block = {0x9f, 0xff};
  const std::int64_t id = letter_of(std::move(made));
  EXPECT_EQ(replay(id).end, ReplayEnd::Failed);
  EXPECT_EQ(letter(id).substr(0, 26), "dead|2|the record's block:") << letter(id);
}

TEST_F(ReplayLetterTest, a_letter_without_a_whole_record_queues_a_resync) {
  event::UnresolvedEvent made;
  made.did = kAlice;
  made.seq = 3;
  made.body = event::Rejection{"frame", "damaged", {1, 2}};
  const std::int64_t frame = letter_of(std::move(made));
  const ReplayedLetter replayed = replay(frame);
  EXPECT_EQ(replayed.end, ReplayEnd::Resolved);
  EXPECT_EQ(replayed.resync, kAlice);
  EXPECT_EQ(letter(frame), "resolved|1|refused|a resync of the account is queued");
  EXPECT_EQ(jobs(), kAlice);

  // Cut, and of an operation without its block.
  session().run("DELETE FROM skua.backfill_jobs");
  event::ResolvedEvent event;
  event.event = made_write(kAlice, kPost, kKey, 7, made_post("a long record"));
  tables::write_dead_letters(session(), {writer::dead_letter_of(kSource, event, "e", "")},
                             clock_.now(), {.payload_bytes = 10});
  EXPECT_EQ(replay(std::stoll(value("SELECT max(id) FROM skua.dead_letter"))).resync, kAlice);
  EXPECT_EQ(jobs(), kAlice);
  event::UnresolvedEvent missing;
  missing.did = kAlice;
  missing.body = event::Rejection{.what = kPost + "/" + kKey,
                                  .error = "the record's block is missing",
                                  .payload = {1},
                                  .operation = event::Operation::Create,
                                  .rev = {7}};
  EXPECT_EQ(replay(letter_of(std::move(missing))).resync, kAlice);
  EXPECT_EQ(posts(), "");
}

TEST_F(ReplayLetterTest, a_resync_waits_for_the_end_of_a_running_job) {
  event::UnresolvedEvent made;
  made.did = kAlice;
  made.body = event::Rejection{"frame", "damaged", {1, 2}};
  const std::int64_t id = letter_of(std::move(made));
  session().run(
      "INSERT INTO skua.backfill_jobs (did, state, created_at, next_attempt, lease_owner, "
      "lease_until) VALUES ('" +
      kAlice + "', 'running', now(), now(), 'x', now())");
  EXPECT_EQ(replay(id).end, ReplayEnd::Impossible);
  EXPECT_EQ(letter(id), "dead|1|refused");
  session().run(
      "UPDATE skua.backfill_jobs SET state = 'done', lease_owner = NULL, "
      "lease_until = NULL");
  EXPECT_EQ(replay(id).end, ReplayEnd::Resolved);
  EXPECT_EQ(value("SELECT state FROM skua.backfill_jobs"), "queued");
}

TEST_F(ReplayLetterTest, the_filter_and_what_cannot_be_replayed) {
  filter_ = tables::Filter(1, {.collections = {"app.bsky.feed.like"}, .dids = {}});
  const std::int64_t excluded = letter_of(made_write(kAlice, kPost, kKey, 7, made_post("x")));
  EXPECT_EQ(replay(excluded).end, ReplayEnd::Resolved);
  EXPECT_EQ(letter(excluded), "resolved|1|refused|the filter excludes it");
  EXPECT_EQ(posts() + jobs(), "");

  const std::int64_t unknown =
      write({"indexer", "k", "", {1}, "damaged", "", kSource, "", "frame"});
  EXPECT_EQ(replay(unknown).end, ReplayEnd::Impossible);
  EXPECT_EQ(letter(unknown), "dead|1|damaged");
  const std::int64_t label =
      write({"indexer", "l", kAlice, {1}, "not signed", "", "labeler:l", "", "label"});
  EXPECT_EQ(replay(label).end, ReplayEnd::Impossible);
  EXPECT_EQ(letter(label), "dead|1|not signed");
  EXPECT_EQ(replay(999).text, "there is no such letter");
}

TEST_F(ReplayLetterTest, a_consumers_letter_is_handed_to_its_consumer) {
  tables::ConsumerLetter letter_to_webhook;
  letter_to_webhook.consumer = "webhook";
  letter_to_webhook.operation = "create";
  letter_to_webhook.error = "status 500";
  ASSERT_TRUE(tables::write_consumer_letter(session(), letter_to_webhook, clock_.now()));
  const std::int64_t id = std::stoll(value("SELECT id FROM skua.dead_letter"));
  EXPECT_EQ(replay(id).end, ReplayEnd::Requested);
  EXPECT_EQ(letter(id), "requested|1|status 500");
  EXPECT_EQ(replay(id).end, ReplayEnd::NotDead);
  EXPECT_EQ(replay(id).text, "requested");
}

TEST_F(ReplayLetterTest, a_letter_that_another_process_replays_is_left_alone) {
  save_head(7);
  const std::int64_t id = letter_of(made_write(kAlice, kPost, kKey, 7, made_post("x")));
  ASSERT_TRUE(tables::lease_letter(session(), id, {.owner = "theirs"}));
  EXPECT_EQ(replay(id).end, ReplayEnd::NotDead);
  EXPECT_EQ(replay(id).text, "replaying by theirs");
  EXPECT_EQ(posts(), "");
  session().run("UPDATE skua.dead_letter SET lease_until = clock_timestamp()");
  EXPECT_EQ(replay(id).end, ReplayEnd::Resolved);
}

TEST_F(ReplayLetterTest, an_account_that_stays_locked_gives_the_lease_back) {
  const std::int64_t id = letter_of(made_write(kAlice, kPost, kKey, 7, made_post("x")));
  postgres::Session other(database_.url(), "test");
  other.run("BEGIN; LOCK TABLE bsky.posts IN ACCESS EXCLUSIVE MODE");
  session().limit_lock_waits(std::chrono::milliseconds(20));
  EXPECT_THROW(replay(id), postgres::ServerError);
  EXPECT_EQ(letter(id), "dead|1|refused");
  other.run("ROLLBACK");
  EXPECT_EQ(replay(id).end, ReplayEnd::Resolved);
}

}  // namespace
}  // namespace skua::backfill::replay_letter_test
