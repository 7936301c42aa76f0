#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "accounts/fake_accounts.hpp"
#include "atproto/account_group.hpp"
#include "pipeline/cursor_saver.hpp"
#include "pipeline/decoder.hpp"
#include "pipeline/pipeline.hpp"
#include "support/manual_clock.hpp"
#include "support/message_bodies.hpp"
#include "support/postgres.hpp"
#include "verify/signed_repository.hpp"
#include "writer/router.hpp"
#include "writer/worker_pool.hpp"

namespace skua::pipeline::parked_accounts_test {
namespace {

using namespace std::chrono_literals;
using documents::HostStatus;
using event::Operation;
using test::json;
using test::SignedRepository;
using verify::errc;

const std::string kSilent = "did:web:silent.example";
const std::string kSource = "relay:test";

/// An account of the stream, with its repository.
struct Account {
  std::string did;
  SignedRepository repository;
  int commits = 0;
};

/// A pipeline with its writers and its cursor, on a real database. The test decides when the hosts
/// of accounts answer.
class ParkedAccountsTest : public test::PostgresTest, protected test::MessageBodies {
 protected:
  void SetUp() override {
    SKUA_NEED_POSTGRES();
    for (int i = 0; i < 8; ++i) {
      Account& one = honest_.emplace_back(
          Account{"did:plc:" + std::string(24, static_cast<char>('a' + i)),
                  SignedRepository(atproto::Curve::k256, static_cast<unsigned char>(40 + i))});
      accounts_.knows(one.did, documents::Account{.key = one.repository.key().multikey()});
    }
    accounts_.knows(kSilent, documents::Account{.key = silent_.repository.key().multikey()});
  }
  void TearDown() override {
    if (pipeline_) close();
  }

  void open(std::size_t frames = 100'000, std::size_t decode_threads = 2,
            std::size_t frame_parts = 1) {
    // In most tests few accounts send everything.
    const pipeline::InFlightList::Limits limits{
        .frames = frames, .bytes = std::size_t{64} << 20, .frame_parts = frame_parts};
    pool_ = std::make_unique<writer::WorkerPool>(runtime_);
    cursor_saver_ = std::make_unique<CursorSaver>(
        runtime_, CursorSaver::Options{.sources = {kSource}, .heads = &heads_});
    verification_ =
        std::make_unique<CommitVerification>(runtime_, accounts_, &heads_, verify::Level::Full);
    pipeline_ = std::make_unique<Pipeline>(
        runtime_,
        PipelineOptions{.sources = {kSource},
                        .decode_threads = decode_threads,
                        .in_flight = limits,
                        .verification = &verification_->verification(),
                        .groups = groups_,
                        .group_cursors = {cursor_saver_->group_cursors(0)},
                        .gaps = &heads_},
        *pool_);
    pool_->start();
    cursor_saver_->start({.watermark = [this](std::size_t) { return pipeline_->watermark(); },
                          .first_unfinished = [this] { return pipeline_->first_unfinished(); },
                          .metrics = [](std::size_t) { return std::string("{}"); }});
  }
  /// Saves the cursor and ends all.
  void close() {
    const bool drained = pipeline_->drain(std::chrono::steady_clock::now() + 1min);
    pool_->end(drained);
    verification_->stop();
    EXPECT_TRUE(cursor_saver_->stop());
    pipeline_.reset();
    verification_.reset();
    cursor_saver_.reset();
    pool_.reset();
  }

  std::int64_t push(const std::string& type, json body) {
    body["seq"] = ++seq_;
    transport::RawFrame frame;
    frame.bytes = test::message(type, body);
    frame.received_at = clock_.now();
    EXPECT_TRUE(pipeline_->submit(frame, event::peek_frame(frame.bytes).value())) << "no room";
    return seq_;
  }
  /// A commit with one record of about `size` bytes.
  json commit(Account& account, std::size_t size = 10) {
    auto parts = account.repository.change(
        {{Operation::Create, "com.example.thing/key" + std::to_string(++account.commits),
          std::string(size, 'x')}});
    parts.commit.did = account.did;
    parts.body["repo"] = account.did;
    return account.repository.sign(std::move(parts));
  }

  template <class Condition>
  bool wait_until(Condition&& condition) {
    const auto deadline = std::chrono::steady_clock::now() + 1min;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }
  bool wait_for_cursor(std::int64_t seq) {
    return wait_until([&] {
      const auto watermark = pipeline_->watermark();
      return watermark && watermark->seq >= seq;
    });
  }
  std::uint64_t dropped(errc reason) {
    return pipeline_->intake().dropped.at(static_cast<std::size_t>(reason) - 1);
  }
  std::uint64_t dropped() {
    std::uint64_t all = 0;
    for (const auto& count : pipeline_->intake().dropped) all += count;
    return all;
  }
  std::size_t rows_of(const std::string& did) {
    return std::stoul(value("SELECT count(*) FROM bsky.all_records WHERE did = '" + did + "'"));
  }
  std::string state_of(const std::string& did) {
    return value(
        "SELECT state || CASE WHEN next_attempt IS NULL THEN '' ELSE ', due' END "
        "FROM skua.repositories WHERE did = '" +
        did + "'");
  }

  test::ManualClock clock_;
  test::FakeAccounts accounts_;
  PendingHeads heads_;
  std::vector<Account> honest_;
  Account silent_{kSilent, SignedRepository(atproto::Curve::k256, 30)};
  std::int64_t seq_ = 0;
  atproto::GroupSet groups_;
  postgres::Runtime runtime_{database_.url(), clock_,
                             [](const std::string& what) { ADD_FAILURE() << what; }};
  std::unique_ptr<writer::WorkerPool> pool_;
  std::unique_ptr<CursorSaver> cursor_saver_;
  std::unique_ptr<CommitVerification> verification_;
  std::unique_ptr<Pipeline> pipeline_;
};

TEST_F(ParkedAccountsTest, a_host_that_never_answers_delays_its_own_account_only) {
  accounts_.hold(kSilent);
  open();
  // 4 MB of the silent account, twice as much as may wait.
  std::int64_t last = 0;
  for (int i = 0; i < 40; ++i) {
    push("#commit", commit(silent_, 100'000));
    for (Account& one : honest_) last = push("#commit", commit(one));
    if (i == 0) {
      ASSERT_TRUE(accounts_.wait_until_asked("known " + kSilent));
    }
  }
  ASSERT_TRUE(wait_for_cursor(last)) << "the cursor waits for the silent account";
  for (const Account& one : honest_) EXPECT_EQ(rows_of(one.did), 40U) << one.did;
  EXPECT_EQ(rows_of(kSilent), 0U);
  EXPECT_EQ(dropped(errc::parked_over_budget), 40U);
  EXPECT_EQ(dropped(), 40U);
  EXPECT_EQ(pipeline_->intake().accounts_waiting, 0U);
  // A further commit is dropped at once, because the host has not answered.
  last = push("#commit", commit(silent_));
  ASSERT_TRUE(wait_for_cursor(last));
  EXPECT_EQ(dropped(errc::parked_over_budget), 41U);
  EXPECT_EQ(accounts_.asked("known " + kSilent), 1U);
  close();
  EXPECT_EQ(value("SELECT cursor FROM skua.cursors"), std::to_string(last));
  EXPECT_EQ(state_of(kSilent), "desynchronized, due");
  for (const Account& one : honest_) EXPECT_EQ(state_of(one.did), "complete") << one.did;
}

TEST_F(ParkedAccountsTest, an_account_whose_key_comes_in_time_loses_nothing) {
  accounts_.hold(kSilent);
  open();
  for (int i = 0; i < 15; ++i) {  // 1.5 MB
    push("#commit", commit(silent_, 100'000));
    for (Account& one : honest_) push("#commit", commit(one));
  }
  ASSERT_TRUE(accounts_.wait_until_asked("known " + kSilent));
  ASSERT_TRUE(wait_until([&] { return pipeline_->backlog().waiting == 15; }));
  EXPECT_EQ(pipeline_->watermark(), std::nullopt) << "it holds back the cursor";
  ASSERT_TRUE(accounts_.answer(kSilent));
  ASSERT_TRUE(wait_for_cursor(seq_));
  EXPECT_EQ(rows_of(kSilent), 15U);
  for (const Account& one : honest_) EXPECT_EQ(rows_of(one.did), 15U) << one.did;
  EXPECT_EQ(dropped(), 0U);
  EXPECT_EQ(pipeline_->intake().broke, 0U);
  close();
  EXPECT_EQ(state_of(kSilent), "complete");
}

TEST_F(ParkedAccountsTest, an_abandoned_account_goes_on_when_its_host_answers) {
  open();
  push("#commit", commit(silent_));
  ASSERT_TRUE(wait_for_cursor(seq_));
  close();
  open();  // Nothing is remembered, and the key is asked for again.
  accounts_.hold(kSilent);
  for (int i = 0; i < 30; ++i) push("#commit", commit(silent_, 100'000));
  ASSERT_TRUE(wait_for_cursor(seq_));
  EXPECT_EQ(dropped(errc::parked_over_budget), 30U);
  EXPECT_EQ(rows_of(kSilent), 1U);
  accounts_.stop_holding(kSilent);
  ASSERT_TRUE(accounts_.answer(kSilent));
  // The answer was before this in the decoder's queue.
  push("#commit", commit(silent_));
  push("#commit", commit(silent_));
  ASSERT_TRUE(wait_for_cursor(seq_));
  EXPECT_EQ(rows_of(kSilent), 3U);
  EXPECT_EQ(pipeline_->intake().broke, 1U) << "what was dropped is a gap in its chain";
  close();
  EXPECT_EQ(state_of(kSilent), "desynchronized, due");
}

TEST_F(ParkedAccountsTest, what_is_said_of_an_account_is_not_dropped_with_its_commits) {
  accounts_.hold(kSilent);
  open();
  for (int i = 0; i < 15; ++i) push("#commit", commit(silent_, 100'000));
  push("#identity", {{"did", kSilent}, {"time", test::kTime}, {"handle", "silent.example"}});
  push("#account", account(false, "takendown", kSilent));
  for (int i = 0; i < 15; ++i) push("#commit", commit(silent_, 100'000));
  ASSERT_TRUE(wait_for_cursor(seq_));
  EXPECT_EQ(dropped(errc::parked_over_budget), 15U);
  EXPECT_EQ(dropped(errc::inactive_account), 15U);
  EXPECT_EQ(
      value("SELECT handle_claim || ' ' || status FROM bsky.actors WHERE did = '" + kSilent + "'"),
      "silent.example takendown");
  // The answer to what was asked before does not undo it.
  accounts_.stop_holding(kSilent);
  ASSERT_TRUE(accounts_.answer(kSilent));
  push("#commit", commit(silent_));
  ASSERT_TRUE(wait_for_cursor(seq_));
  EXPECT_EQ(dropped(errc::inactive_account), 16U);
}

TEST_F(ParkedAccountsTest, a_host_that_does_not_tell_a_status_costs_no_commit) {
  Account& moved = honest_.front();
  open();
  push("#commit", commit(moved));
  ASSERT_TRUE(wait_for_cursor(seq_));
  accounts_.hold(moved.did);
  push("#account", account(false, "deactivated", moved.did));
  for (int i = 0; i < 30; ++i) push("#commit", commit(moved, 100'000));
  ASSERT_TRUE(wait_for_cursor(seq_));
  EXPECT_EQ(rows_of(moved.did), 31U);
  EXPECT_EQ(dropped(), 0U);
  EXPECT_EQ(pipeline_->intake().unsettled_accounts, 1U);
  EXPECT_EQ(accounts_.asked("status " + moved.did), 1U);
  accounts_.stop_holding(moved.did);
  ASSERT_TRUE(accounts_.answer(moved.did));
  accounts_.host_says(moved.did, HostStatus{true, ""});
  push("#account", account(false, "deactivated", moved.did));
  ASSERT_TRUE(wait_for_cursor(seq_));
  EXPECT_EQ(pipeline_->intake().stale_accounts, 1U) << "hosts are asked again";
  close();
  EXPECT_EQ(state_of(moved.did), "desynchronized, due") << "a resync asks the host";
}

TEST_F(ParkedAccountsTest, a_document_that_does_not_come_costs_no_commit_of_a_known_key) {
  open();
  push("#commit", commit(silent_));
  ASSERT_TRUE(wait_for_cursor(seq_));
  accounts_.hold(kSilent);
  push("#identity", {{"did", kSilent}, {"time", test::kTime}, {"handle", "silent.example"}});
  for (int i = 0; i < 30; ++i) push("#commit", commit(silent_, 100'000));
  ASSERT_TRUE(wait_for_cursor(seq_));
  EXPECT_EQ(rows_of(kSilent), 31U);
  EXPECT_EQ(dropped(), 0U);
  // A commit that another key signed proves nothing: the key may be new.
  Account forged{kSilent, SignedRepository(atproto::Curve::k256, 31)};
  for (int i = 0; i < 40; ++i) commit(forged);
  push("#commit", commit(forged));
  push("#commit", commit(silent_));
  ASSERT_TRUE(wait_for_cursor(seq_));
  EXPECT_EQ(dropped(errc::parked_over_budget), 1U);
  EXPECT_EQ(rows_of(kSilent), 32U);
}

TEST_F(ParkedAccountsTest, one_small_message_does_not_hold_the_cursor_for_ever) {
  const auto decoder_of = [](const std::string& did) { return (writer::path_hash(did) >> 16) % 2; };
  accounts_.hold(kSilent);
  open(1'000);
  push("#commit", commit(silent_));
  ASSERT_TRUE(accounts_.wait_until_asked("known " + kSilent));
  // The decoder that has it gets nothing more.
  std::vector<Account*> others;
  for (Account& one : honest_) {
    if (decoder_of(one.did) != decoder_of(kSilent)) others.push_back(&one);
  }
  ASSERT_FALSE(others.empty());
  for (std::size_t i = 0; i < 499; ++i) push("#commit", commit(*others[i % others.size()]));
  ASSERT_TRUE(wait_until([&] { return pipeline_->backlog().waiting == 1; }));
  EXPECT_EQ(pipeline_->watermark(), std::nullopt);
  EXPECT_EQ(dropped(), 0U);
  push("#commit", commit(*others.front()));
  ASSERT_TRUE(wait_for_cursor(seq_));
  EXPECT_EQ(dropped(errc::parked_over_budget), 1U);
  close();
  EXPECT_EQ(state_of(kSilent), "desynchronized, due");
}

TEST_F(ParkedAccountsTest, an_account_beyond_its_share_is_downloaded_later_and_delays_nobody) {
  Account& waits = honest_.front();
  accounts_.hold(waits.did);
  open(3'200, 2, 32);
  for (int i = 0; i < 150; ++i) push("#commit", commit(waits));
  // Another kind of message is small, and a resync cannot replace it.
  push("#identity", identity("claimed.example", waits.did));
  push("#commit", commit(honest_.back()));
  ASSERT_TRUE(wait_until([&] { return pipeline_->backlog().waiting == 101; }));
  EXPECT_EQ(rows_of(honest_.back().did), 1U);
  EXPECT_EQ(dropped(errc::over_share), 50U);
  while (!accounts_.answer(waits.did)) std::this_thread::yield();
  accounts_.stop_holding(waits.did);
  ASSERT_TRUE(accounts_.wait_until_asked("now " + waits.did));
  accounts_.answer(waits.did);
  ASSERT_TRUE(wait_for_cursor(seq_));
  EXPECT_EQ(rows_of(waits.did), 100U);
  close();
  EXPECT_EQ(state_of(waits.did), "desynchronized, due");
}

TEST_F(ParkedAccountsTest, a_foreign_account_costs_no_look_up_and_no_place) {
  Account& own = honest_.front();
  groups_ = atproto::GroupSet::parse(std::to_string(atproto::account_group(own.did))).value();
  const auto foreign = std::find_if(honest_.begin(), honest_.end(), [&](const Account& account) {
    return !groups_.has_account(account.did);
  });
  ASSERT_NE(foreign, honest_.end());
  // The directory does not answer, so each message of the account would stay.
  accounts_.hold(foreign->did);
  open(100, 2, 2);
  for (int i = 0; i < 60; ++i) push("#commit", commit(*foreign, 100'000));
  push("#identity", {{"did", foreign->did}, {"time", "2026-01-02T03:04:05Z"}});
  push("#account", {{"did", foreign->did}, {"active", false}, {"time", "2026-01-02T03:04:05Z"}});
  push("#commit", commit(own));
  ASSERT_TRUE(wait_for_cursor(seq_));
  EXPECT_EQ(dropped(errc::foreign_account), 62U);
  EXPECT_EQ(dropped(), 62U);
  EXPECT_EQ(pipeline_->intake().frames, 63U);
  EXPECT_EQ(rows_of(own.did), 1U);
  EXPECT_EQ(state_of(foreign->did), "");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.actors"), "1");
}

/// After a move of groups, a node reads again from the cursor of the other node.
class GroupCursorTest : public ParkedAccountsTest {
 protected:
  /// The cursor is 1, but the group of the first account is at `ahead`.
  void open_after_move(std::int64_t ahead) {
    seq_ = 1;
    session().run("INSERT INTO skua.cursors VALUES (1, NULL, now(), '" + std::string(kSource) +
                  "'); INSERT INTO skua.group_cursors VALUES (" + std::to_string(ahead) + ", " +
                  std::to_string(atproto::account_group(first().did)) + ", '" +
                  std::string(kSource) + "')");
    open();
  }
  std::string group_cursors() {
    return value("SELECT string_agg(cursor::text, ' ') FROM skua.group_cursors");
  }

  Account& first() { return honest_.front(); }
  /// An account of another group.
  Account& other() {
    return *std::find_if(honest_.begin(), honest_.end(), [this](const Account& account) {
      return atproto::account_group(account.did) != atproto::account_group(first().did);
    });
  }
};

TEST_F(GroupCursorTest, events_of_a_group_that_is_ahead_are_dropped) {
  open_after_move(3);
  for (int i = 0; i < 3; ++i) {
    push("#commit", commit(first()));
    push("#commit", commit(other()));
  }
  ASSERT_TRUE(wait_for_cursor(seq_));
  EXPECT_EQ(dropped(errc::already_indexed), 1U) << "that with the sequence number 2";
  EXPECT_EQ(dropped(), 1U);
  EXPECT_EQ(rows_of(other().did), 3U);
  EXPECT_EQ(group_cursors(), "3");
  close();
  EXPECT_EQ(group_cursors(), "") << "the cursor has passed it";
}

TEST_F(GroupCursorTest, a_group_is_ahead_until_the_cursor_has_come_there) {
  open_after_move(4);
  push("#commit", commit(other()));
  ASSERT_TRUE(wait_for_cursor(seq_));
  close();
  EXPECT_EQ(group_cursors(), "4");
  open();
  push("#commit", commit(first()));
  push("#commit", commit(first()));
  ASSERT_TRUE(wait_for_cursor(seq_));
  EXPECT_EQ(dropped(errc::already_indexed), 2U);
  close();
  EXPECT_EQ(group_cursors(), "");
}

TEST_F(GroupCursorTest, a_reset_of_the_sequence_numbers_ends_it) {
  open_after_move(9);
  pipeline_->restart();
  seq_ = 0;
  push("#commit", commit(first()));
  ASSERT_TRUE(wait_for_cursor(seq_));
  EXPECT_EQ(dropped(), 0U);
  EXPECT_EQ(rows_of(first().did), 1U);
}

TEST_F(ParkedAccountsTest, the_cursor_has_the_time_of_a_foreign_message) {
  groups_ = atproto::GroupSet::parse("0").value();
  const auto foreign = std::find_if(honest_.begin(), honest_.end(), [&](const Account& account) {
    return !groups_.has_account(account.did);
  });
  ASSERT_NE(foreign, honest_.end());
  open();
  json body = commit(*foreign);
  body["time"] = "2026-01-01T23:59:58Z";
  push("#commit", body);
  ASSERT_TRUE(wait_for_cursor(seq_));
  EXPECT_EQ(format_datetime(pipeline_->watermark()->time), "2026-01-01T23:59:58.000000Z");
}

TEST_F(ParkedAccountsTest, who_waits_for_the_directory_loses_nothing) {
  Account& waits = honest_.front();
  accounts_.hold(waits.did);
  open(1'000);
  for (int i = 0; i < 30; ++i) push("#commit", commit(waits, 100'000));
  for (int i = 0; i < 900; ++i) push("#commit", commit(honest_.back()));
  ASSERT_TRUE(accounts_.wait_until_asked("known " + waits.did));
  ASSERT_TRUE(wait_until([&] { return pipeline_->backlog().waiting == 30; }));
  EXPECT_EQ(pipeline_->watermark(), std::nullopt);
  ASSERT_TRUE(accounts_.answer(waits.did));
  ASSERT_TRUE(wait_for_cursor(seq_));
  EXPECT_EQ(rows_of(waits.did), 30U);
  EXPECT_EQ(dropped(), 0U);
}

}  // namespace
}  // namespace skua::pipeline::parked_accounts_test
