#include "pipeline/decoder.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "accounts/fake_accounts.hpp"
#include "pipeline/decode_thread.hpp"
#include "support/manual_clock.hpp"
#include "support/message_bodies.hpp"
#include "support/shared_data.hpp"
#include "transport/capture.hpp"
#include "transport/errc.hpp"
#include "verify/signed_repository.hpp"

namespace skua::pipeline::decoder_test {
namespace {

using namespace std::chrono_literals;
using documents::HostStatus;
using event::Operation;
using test::json;
using test::SignedRepository;
using verify::errc;

const std::string kAlice{test::kDid};
const std::string kBob = "did:plc:bbbbbbbbbbbbbbbbbbbbbbbb";

/// Receives the events of a decoder. They are durable at once.
class Events {
 public:
  explicit Events(pipeline::InFlightList& in_flight) : in_flight_(in_flight) {}

  void take(event::UnresolvedEvent event) {
    const auto ticket = event.ticket;
    {
      const std::scoped_lock lock(mutex_);
      events_.push_back(std::move(event));
      changed_.notify_all();
    }
    in_flight_.finish(std::vector{ticket}, Timestamp{});
  }
  bool wait_until_there_are(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 1min, [&] { return events_.size() >= count; });
  }
  bool wait_until_there_are(std::size_t count, const std::string& did) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 1min, [&] {
      return static_cast<std::size_t>(
                 std::count_if(events_.begin(), events_.end(),
                               [&](const auto& event) { return event.did == did; })) >= count;
    });
  }
  /// The sequence numbers of the frames of an account's events, in the order of their arrival.
  std::vector<std::int64_t> seqs(const std::string& did) {
    const std::scoped_lock lock(mutex_);
    std::vector<std::int64_t> seqs;
    for (const auto& event : events_) {
      if (event.did == did) seqs.push_back(event.seq);
    }
    return seqs;
  }
  /// The kinds of an account's events, in the order of their arrival, as `seq:what`.
  std::vector<std::string> kinds(const std::string& did) {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> kinds;
    for (const auto& event : events_) {
      if (event.did != did) continue;
      std::string what = "other";
      if (const auto* change = std::get_if<event::IdentityChange>(&event.body)) {
        what = change->handle.value_or("no word");
      } else if (std::holds_alternative<event::RecordChange>(event.body)) {
        what = "record";
      }
      kinds.push_back(std::to_string(event.seq) + ":" + what);
    }
    return kinds;
  }
  std::vector<pipeline::InFlightList::Ticket> tickets() {
    const std::scoped_lock lock(mutex_);
    std::vector<pipeline::InFlightList::Ticket> tickets;
    for (const auto& event : events_) tickets.push_back(event.ticket);
    return tickets;
  }
  template <class Body>
  const Body& last() {
    const std::scoped_lock lock(mutex_);
    return std::get<Body>(events_.back().body);
  }
  std::size_t size() {
    const std::scoped_lock lock(mutex_);
    return events_.size();
  }

 private:
  pipeline::InFlightList& in_flight_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<event::UnresolvedEvent> events_;
};

using Seqs = std::vector<std::int64_t>;

documents::Account account_of(const SignedRepository& repository, const std::string& handle = "") {
  return {.key = repository.key().multikey(), .handle = handle};
}

class DecoderTest : public testing::Test, protected test::MessageBodies {
 protected:
  /// `knows_stored`: a repository with a pending head is not new. Then no other repository may be
  /// looked up.
  void open(bool is_verified = true, std::size_t remembered = 100, bool knows_stored = false) {
    lookup_ =
        std::make_unique<RepositoryLookup>(runtime_, accounts_, knows_stored ? &heads_ : nullptr);
    verification_ =
        std::make_unique<VerificationServices>(VerificationServices{.accounts = accounts_,
                                                                    .repositories = lookup_.get(),
                                                                    .heads = &heads_,
                                                                    .remembered = remembered});
    decoder_ = std::make_unique<DecodeThread>(
        DecoderServices{.out = {.runtime = runtime_,
                                .intake = intake_,
                                .in_flight = in_flight_,
                                .sink = [this](auto event) { events_.take(std::move(event)); },
                                .filter = &filter_,
                                .signals = &signals_,
                                .gaps = is_verified ? &heads_ : nullptr},
                        .verification = is_verified ? verification_.get() : nullptr},
        [](DecoderServices services) { return std::make_unique<Decoder>(std::move(services)); });
  }

  /// Passes a frame as the pipeline does. Returns its sequence number.
  std::int64_t push(const std::string& type, json body) {
    body["seq"] = ++seq_;
    push_bytes(test::message(type, body));
    return seq_;
  }
  void push_bytes(Bytes frame, ErrorCode defect = {}) {
    AdmittedMessage job;
    job.defect = defect;
    job.bytes = std::move(frame);
    if (const auto peek = event::peek_frame(job.bytes)) {
      static_cast<event::FramePeek&>(job) = *peek;
    }
    job.ticket = *in_flight_.admit({.seq = job.seq, .bytes = job.bytes.size()});
    decoder_->push(std::move(job));
  }
  /// Waits until all frames that were pushed are finished.
  void expect_all_done() {
    const auto deadline = std::chrono::steady_clock::now() + 1min;
    EXPECT_TRUE(in_flight_.wait_until_empty(deadline));
    EXPECT_EQ(in_flight_.frames(), 0U);
    // A frame is finished shortly before its account stops waiting.
    while (intake_.accounts_waiting > 0 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    EXPECT_EQ(intake_.accounts_waiting, 0U);
  }
  std::uint64_t dropped(errc reason) {
    return intake_.dropped.at(static_cast<std::size_t>(reason) - 1);
  }
  std::uint64_t dropped() {
    std::uint64_t all = 0;
    for (const auto& count : intake_.dropped) all += count;
    return all;
  }
  /// Returns when the decoder has read all earlier frames of other accounts. It uses an account of
  /// its own, whose first frame waits until the account is found.
  void pass() {
    const std::string did = "did:plc:" + std::string(24, 'p');
    // Accounts take turns: only an empty queue shows that the other frames have been taken from it.
    while (decoder_->backlog() > 0) std::this_thread::yield();
    const std::size_t before = events_.seqs(did).size();
    push("#account", account(true, "", did));
    ASSERT_TRUE(events_.wait_until_there_are(before + 1, did)) << "the decoder stands still";
  }

  void set_filter(std::vector<std::string> collections, std::vector<std::string> dids) {
    filter_.set(std::make_shared<const tables::Filter>(
        filter_.get()->version() + 1,
        tables::FilterContent{std::move(collections), std::move(dids)}));
  }

  test::ManualClock clock_;
  postgres::Runtime runtime_{"", clock_, [](const std::string& what) { ADD_FAILURE() << what; }};
  filter::CurrentFilter filter_;
  SignalAccounts signals_{{.collections = {"app.bsky.feed.post"}}};
  IntakeCounters intake_;
  pipeline::InFlightList in_flight_{{.frames = 100'000, .bytes = std::size_t{1} << 30}};
  Events events_{in_flight_};
  test::FakeAccounts accounts_;
  PendingHeads heads_;
  SignedRepository alice_{atproto::Curve::k256, 7};
  SignedRepository bob_{atproto::Curve::p256, 8};
  std::int64_t seq_ = 0;
  std::unique_ptr<RepositoryLookup> lookup_;
  std::unique_ptr<VerificationServices> verification_;
  std::unique_ptr<DecodeThread> decoder_;
};

// --- without verification

TEST_F(DecoderTest, of_a_clock_that_is_ten_minutes_behind_the_time_of_frames_counts) {
  open(false);
  json late = commit(alice_);
  late["time"] = format_datetime(clock_.now() + 10min);
  late["rev"] = atproto::Tid::from_time(clock_.now() + 10min, 0).to_string();
  push("#commit", late);
  expect_all_done();
  EXPECT_EQ(events_.size(), 1U);
  EXPECT_EQ(dropped(), 0U);
}

TEST_F(DecoderTest, several_accounts_of_the_future_wait_for_our_clock_and_keep_their_order) {
  open(false);
  json late = commit(alice_);
  late["time"] = format_datetime(clock_.now() + 3h);
  late["rev"] = atproto::Tid::from_time(clock_.now() + 3h, 0).to_string();
  for (int i = 0; i < 10; ++i) {
    const std::string did = "did:plc:" + std::string(24, static_cast<char>('b' + i));
    late["repo"] = did;
    push("#commit", late);
    push("#account", account(true, "", did));
  }
  const auto deadline = std::chrono::steady_clock::now() + 1min;
  while (intake_.frames_held < 20 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(in_flight_.unfinished(), 20U);
  EXPECT_EQ(events_.size(), 0U);
  clock_.advance(3h);
  expect_all_done();
  EXPECT_EQ(dropped(), 0U);
  EXPECT_EQ(events_.size(), 20U);
  for (int i = 0; i < 10; ++i) {
    const auto seqs = events_.seqs("did:plc:" + std::string(24, static_cast<char>('b' + i)));
    EXPECT_EQ(seqs, (Seqs{2 * i + 1, 2 * i + 2}));
  }
}

// --- commits

TEST_F(DecoderTest, a_verified_commit_passes_and_is_logged) {
  accounts_.knows(kAlice, account_of(alice_));
  open();
  const auto first = push("#commit", commit(alice_));
  const auto second = push("#commit", commit(alice_));
  expect_all_done();
  EXPECT_EQ(events_.seqs(kAlice), (Seqs{first, second}));
  EXPECT_EQ(intake_.verified, 2U);
  EXPECT_EQ(intake_.broke, 0U);
  EXPECT_EQ(dropped(), 0U);
  EXPECT_EQ(accounts_.asked("known " + kAlice), 1U) << "what is known is not asked for";
  const auto newest = heads_.newest(kAlice);
  ASSERT_TRUE(newest && newest->head);
  EXPECT_EQ(newest->head->rev, alice_.head().rev);
  EXPECT_EQ(newest->head->data, alice_.head().data);
}

// --- the filter

TEST_F(DecoderTest, an_account_that_was_left_out_and_is_back_has_a_gap) {
  accounts_.knows(kAlice, account_of(alice_));
  accounts_.knows(kBob, account_of(bob_));
  open();
  push("#commit", commit(alice_));
  expect_all_done();
  const auto before = heads_.newest(kAlice);
  set_filter({}, {kBob});
  push("#commit", commit(alice_));
  push("#account", account(false, "deactivated"));
  push("#identity", identity());
  const auto of_bob = push("#commit", commit(bob_, kBob));
  expect_all_done();
  EXPECT_EQ(intake_.filtered_messages, 3U);
  EXPECT_EQ(intake_.verified, 2U);
  EXPECT_EQ(events_.seqs(kBob), (Seqs{of_bob}));
  EXPECT_EQ(heads_.newest(kAlice)->head, before->head);
  set_filter({}, {});
  push("#commit", commit(alice_));
  expect_all_done();
  EXPECT_EQ(intake_.broke, 1U);
  EXPECT_EQ(heads_.newest(kAlice)->head->rev, alice_.head().rev);
}

TEST_F(DecoderTest, an_account_that_wrote_nothing_while_it_was_left_out_has_none) {
  accounts_.knows(kAlice, account_of(alice_));
  open();
  push("#commit", commit(alice_));
  expect_all_done();
  set_filter({}, {kBob});
  push("#account", account(true));
  expect_all_done();
  set_filter({}, {});
  push("#commit", commit(alice_));
  expect_all_done();
  EXPECT_EQ(intake_.verified, 2U);
  EXPECT_EQ(intake_.broke, 0U);
}

TEST_F(DecoderTest, a_commit_of_which_no_record_passes_is_verified_and_its_chain_goes_on) {
  accounts_.knows(kAlice, account_of(alice_));
  open();
  set_filter({"app.bsky.feed.like"}, {});
  push("#commit", commit(alice_, bob_));
  push("#commit", commit(alice_));
  push("#commit", commit(alice_));
  expect_all_done();
  EXPECT_EQ(intake_.filtered, 2U);
  EXPECT_EQ(dropped(errc::wrong_signature), 1U);
  EXPECT_EQ(heads_.newest(kAlice)->head->rev, alice_.head().rev);
  const std::uint64_t broke = intake_.broke;
  set_filter({}, {});
  const auto last = push("#commit", commit(alice_));
  expect_all_done();
  EXPECT_EQ(intake_.broke, broke);
  EXPECT_EQ(events_.seqs(kAlice).back(), last);
}

TEST_F(DecoderTest, an_account_shows_up_with_a_verified_record_or_while_the_filter_excludes_it) {
  accounts_.knows(kAlice, account_of(alice_));
  accounts_.knows(kBob, account_of(bob_));
  open();
  push("#commit", commit(alice_, bob_));
  expect_all_done();
  EXPECT_EQ(dropped(errc::wrong_signature), 1U);
  EXPECT_EQ(signals_.take(10), std::vector<std::string>());
  push("#commit", commit(alice_));
  expect_all_done();
  EXPECT_EQ(signals_.take(10), std::vector<std::string>{kAlice});
  set_filter({}, {kAlice});
  push("#commit", commit(bob_, kBob));
  push("#identity", identity());
  expect_all_done();
  EXPECT_EQ(signals_.take(10), std::vector<std::string>{kBob});
  EXPECT_EQ(intake_.filtered_messages, 1U);
  EXPECT_EQ(events_.seqs(kBob), Seqs());
  EXPECT_FALSE(heads_.newest(kBob)) << "what is known of its repository stays as it is";
}

TEST_F(DecoderTest, what_waits_for_an_answer_goes_by_the_filter_of_then) {
  accounts_.knows(kAlice, account_of(alice_));
  accounts_.hold(kAlice);
  open();
  push("#commit", commit(alice_));
  push("#commit", commit(alice_));
  pass();
  set_filter({}, {kBob});
  ASSERT_TRUE(accounts_.answer(kAlice));
  expect_all_done();
  EXPECT_EQ(intake_.filtered_messages, 2U);
  EXPECT_EQ(events_.seqs(kAlice), Seqs{});
}

TEST_F(DecoderTest, nothing_is_logged_before_its_frame_can_finish) {
  accounts_.knows(kAlice, account_of(alice_));
  open();
  push("#commit", commit(alice_));
  expect_all_done();
  EXPECT_EQ(heads_.collect(in_flight_.first_unfinished()).size(), 1U);
}

TEST_F(DecoderTest, keeps_an_accounts_order_while_it_waits_and_lets_others_pass) {
  accounts_.knows(kAlice, account_of(alice_));
  accounts_.knows(kBob, account_of(bob_));
  accounts_.hold(kAlice);
  open();
  Seqs of_alice;
  Seqs of_bob;
  for (int i = 0; i < 5; ++i) {
    of_alice.push_back(push("#commit", commit(alice_)));
    of_bob.push_back(push("#commit", commit(bob_, kBob)));
  }
  of_alice.push_back(push("#account", account(true)));
  ASSERT_TRUE(events_.wait_until_there_are(of_bob.size()));
  pass();
  pass();
  EXPECT_EQ(events_.seqs(kBob), of_bob);
  EXPECT_EQ(events_.seqs(kAlice), Seqs{});
  EXPECT_EQ(intake_.accounts_waiting, 1U);
  ASSERT_TRUE(accounts_.answer(kAlice));
  expect_all_done();
  EXPECT_EQ(events_.seqs(kAlice), of_alice);
}

TEST_F(DecoderTest, a_frame_that_cannot_be_read_keeps_its_place_and_its_bytes) {
  accounts_.knows(kAlice, account_of(alice_));
  accounts_.hold(kAlice);
  open();
  push("#commit", commit(alice_));
  json broken = commit(alice_);
  broken["seq"] = ++seq_;
  broken.erase("ops");
  const Bytes bytes = test::message("#commit", broken);
  push_bytes(bytes);
  push_bytes({1, 2, 3});
  EXPECT_TRUE(events_.wait_until_there_are(1));
  EXPECT_EQ(events_.seqs(kAlice), Seqs{});
  EXPECT_EQ(events_.last<event::Rejection>().payload, (Bytes{1, 2, 3}));
  ASSERT_TRUE(accounts_.wait_until_asked("known " + kAlice));
  ASSERT_TRUE(accounts_.answer(kAlice));
  expect_all_done();
  EXPECT_EQ(events_.seqs(kAlice), (Seqs{1, 2}));
  EXPECT_EQ(events_.last<event::Rejection>().payload, bytes);
  EXPECT_EQ(intake_.bad_frames, 2U);
}

TEST_F(DecoderTest, a_frame_that_is_too_large_is_a_dead_letter_and_a_gap) {
  accounts_.knows(kAlice, account_of(alice_));
  open();
  push("#commit", commit(alice_));
  json large = commit(alice_);
  large["seq"] = ++seq_;
  Bytes bytes = test::message("#commit", large);
  bytes.resize(100'000);
  // It is not decoded, though it could be.
  push_bytes(bytes, transport::errc::message_too_large);
  expect_all_done();
  EXPECT_EQ(events_.seqs(kAlice), (Seqs{1, 2}));
  ASSERT_EQ(heads_.collect_gaps(100).size(), 1U);
  EXPECT_EQ(heads_.collect_gaps(100).front().did, kAlice);
  EXPECT_EQ(events_.last<event::Rejection>().error,
            "the message is over the size limit; this is its beginning");
  bytes.resize(std::size_t{64} << 10);
  EXPECT_EQ(events_.last<event::Rejection>().payload, bytes);
  push_bytes({1, 2, 3}, transport::errc::message_too_large);
  expect_all_done();
  EXPECT_EQ(events_.last<event::Rejection>().payload, (Bytes{1, 2, 3}));
  EXPECT_EQ(intake_.bad_frames, 2U);
}

TEST_F(DecoderTest, unverified_a_frame_that_is_too_large_is_a_dead_letter) {
  open(false);
  push_bytes(test::message("#commit", commit(alice_)), transport::errc::message_too_large);
  expect_all_done();
  EXPECT_EQ(intake_.bad_frames, 1U);
  EXPECT_TRUE(heads_.collect_gaps(100).empty());
}

TEST_F(DecoderTest, a_frame_of_an_excluded_account_that_is_too_large_is_left_out) {
  open();
  set_filter({}, {kBob});
  push_bytes(test::message("#commit", commit(alice_)), transport::errc::message_too_large);
  expect_all_done();
  EXPECT_EQ(intake_.filtered_messages, 1U);
  EXPECT_EQ(intake_.bad_frames, 0U);
}

TEST_F(DecoderTest, a_wrong_signature_is_looked_into_once_and_then_dropped) {
  accounts_.knows(kAlice, account_of(alice_));
  open();
  push("#commit", commit(alice_, bob_));
  expect_all_done();
  EXPECT_EQ(dropped(errc::wrong_signature), 1U);
  EXPECT_EQ(accounts_.asked("recent " + kAlice), 1U);
  EXPECT_EQ(events_.size(), 0U);
  EXPECT_EQ(in_flight_.watermark()->seq, seq_) << "it does not hold up the cursor";
  EXPECT_EQ(heads_.newest(kAlice), std::nullopt);
  // A commit with a right signature still passes.
  const auto good = push("#commit", commit(alice_));
  expect_all_done();
  EXPECT_EQ(events_.seqs(kAlice), Seqs{good});
}

TEST_F(DecoderTest, a_signature_that_does_not_fit_waits_while_the_directory_fails) {
  const SignedRepository new_key(atproto::Curve::p256, 9);
  accounts_.knows(kAlice, account_of(alice_));
  open();
  Seqs all = {push("#commit", commit(alice_))};
  expect_all_done();
  accounts_.hold(kAlice);
  all.push_back(push("#commit", commit(alice_, new_key)));
  ASSERT_TRUE(accounts_.wait_until_asked("recent " + kAlice));
  pass();
  EXPECT_EQ(dropped(errc::wrong_signature), 0U);
  EXPECT_EQ(events_.seqs(kAlice), Seqs{all.front()});
  accounts_.knows(kAlice, account_of(new_key));
  ASSERT_TRUE(accounts_.answer(kAlice));
  expect_all_done();
  EXPECT_EQ(events_.seqs(kAlice), all);
}

TEST_F(DecoderTest, a_commit_from_before_the_key_was_changed_is_checked_with_the_key_of_its_time) {
  const SignedRepository new_key(atproto::Curve::p256, 9);
  accounts_.knows(kAlice, account_of(new_key));
  accounts_.had(kAlice, {alice_.key().multikey()});
  open();
  const Seqs all = {push("#commit", commit(alice_)), push("#commit", commit(alice_, new_key))};
  expect_all_done();
  EXPECT_EQ(events_.seqs(kAlice), all);
  EXPECT_EQ(accounts_.asked("former " + kAlice), 1U);
  EXPECT_EQ(intake_.former_keys, 1U);
  EXPECT_EQ(dropped(errc::wrong_signature), 0U);
}

TEST_F(DecoderTest, commits_of_keys_that_were_changed_twice_are_checked_with_each_of_them) {
  const SignedRepository between(atproto::Curve::k256, 8);
  const SignedRepository new_key(atproto::Curve::p256, 9);
  accounts_.knows(kAlice, account_of(new_key));
  accounts_.had(kAlice,
                {new_key.key().multikey(), between.key().multikey(), alice_.key().multikey()});
  open();
  const Seqs all = {push("#commit", commit(alice_)), push("#commit", commit(alice_, between)),
                    push("#commit", commit(alice_, new_key))};
  expect_all_done();
  EXPECT_EQ(events_.seqs(kAlice), all);
  EXPECT_EQ(intake_.former_keys, 2U);
  EXPECT_EQ(dropped(errc::wrong_signature), 0U);
}

/// ../shared/data/reports: #identity messages with handles that are none.
TEST_F(DecoderTest, a_malformed_handle_of_a_report_refreshes_the_identity) {
  SKUA_NEED_SHARED();
  const auto file = *test::shared_dir() / "data/reports/malformed-handles.frames";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "needs " << file;
  // The capture is of this day.
  clock_.advance(parse_datetime("2026-11-27T08:00:00Z")->instant - clock_.now());
  open();
  transport::CaptureReader capture(file);
  std::map<std::string, std::size_t> messages;
  std::size_t all = 0;
  for (auto next = capture.next(); next && *next; next = capture.next()) {
    Bytes frame((*next)->begin(), (*next)->end());
    const auto peek = event::peek_frame(frame);
    ASSERT_TRUE(peek);
    const std::string did(peek->did);
    accounts_.knows(did, account_of(alice_, "document.example"));
    if (peek->type == event::MessageType::Identity) ++messages[did], ++all;
    push_bytes(std::move(frame));
  }
  expect_all_done();
  EXPECT_EQ(all, 30U);
  EXPECT_EQ(intake_.bad_frames, 0U);
  EXPECT_EQ(intake_.bad_ops, 0U);
  for (const auto& [did, count] : messages) {
    EXPECT_EQ(accounts_.asked("now " + did), count) << did;
    const auto kinds = events_.kinds(did);
    EXPECT_EQ(kinds.size(), count) << did;
    for (const std::string& kind : kinds) {
      EXPECT_NE(kind.find(":document.example"), std::string::npos) << did << kind;
    }
  }
}

TEST_F(DecoderTest, a_host_of_its_own_that_fails_is_left_alone_for_minutes) {
  const std::string did = "did:web:failing.example";
  accounts_.knows(did, documents::errc::server_failed);
  open();
  for (const std::string& asked : {"known " + did, "recent " + did}) {
    for (int i = 0; i < 3; ++i) {
      push("#commit", commit(alice_, did));
      expect_all_done();
      EXPECT_EQ(accounts_.asked(asked), 1U);
    }
    clock_.advance(5min);
  }
  EXPECT_EQ(dropped(errc::no_did_document), 6U);
  accounts_.knows(did, account_of(alice_));
  push("#commit", commit(alice_, did));
  expect_all_done();
  EXPECT_EQ(intake_.verified, 1U);
}

TEST_F(DecoderTest, a_key_of_a_day_ago_is_refreshed_beside_the_work) {
  accounts_.knows(kAlice, account_of(alice_));
  open();
  push("#commit", commit(alice_));
  expect_all_done();
  clock_.advance(24h);
  accounts_.hold(kAlice);
  push("#commit", commit(alice_));
  push("#commit", commit(alice_));
  expect_all_done();
  EXPECT_EQ(intake_.verified, 3U);
  EXPECT_EQ(accounts_.asked("recent " + kAlice), 1U);
  // It was given up meanwhile.
  accounts_.knows(kAlice, documents::errc::did_tombstoned);
  ASSERT_TRUE(accounts_.answer(kAlice));
  push("#commit", commit(alice_));
  expect_all_done();
  EXPECT_EQ(dropped(errc::no_did_document), 1U);
}

// --- introductions

using Kinds = std::vector<std::string>;

TEST_F(DecoderTest, the_first_commit_of_an_account_brings_the_handle_of_its_document) {
  accounts_.knows(kAlice, account_of(alice_, "alice.example"));
  open();
  json body = alice_.commit({{Operation::Create, "app.bsky.feed.post/one", "text"},
                             {Operation::Create, "app.bsky.feed.post/two", "text"}});
  const Timestamp time = clock_.now() - 1s;
  body["time"] = format_datetime(time);
  push("#commit", body);
  expect_all_done();
  EXPECT_EQ(events_.kinds(kAlice), (Kinds{"1:record", "1:record", "1:alice.example"}));
  const auto tickets = events_.tickets();
  EXPECT_EQ(std::count(tickets.begin(), tickets.end(), tickets.front()), 3);
  const auto& change = events_.last<event::IdentityChange>();
  EXPECT_EQ(change.time, time);
  EXPECT_EQ(in_flight_.watermark()->seq, 1) << "it is part of its frame";
  push("#commit", commit(alice_));
  expect_all_done();
  EXPECT_EQ(events_.kinds(kAlice).back(), "2:record");
  EXPECT_EQ(events_.size(), 4U);
  EXPECT_EQ(accounts_.asked("known " + kAlice), 1U);
  EXPECT_EQ(intake_.commits, 2U);
  EXPECT_EQ(intake_.ops, 3U);
  EXPECT_EQ(intake_.identities, 0U);
}

TEST_F(DecoderTest, those_who_wait_behind_a_first_commit_bring_no_handle) {
  accounts_.knows(kAlice, account_of(alice_, "alice.example"));
  accounts_.hold(kAlice);
  open();
  for (int i = 0; i < 3; ++i) push("#commit", commit(alice_));
  ASSERT_TRUE(accounts_.wait_until_asked("known " + kAlice));
  ASSERT_TRUE(accounts_.answer(kAlice));
  expect_all_done();
  EXPECT_EQ(events_.kinds(kAlice), (Kinds{"1:record", "1:alice.example", "2:record", "3:record"}));
}

TEST_F(DecoderTest, an_account_that_is_known_already_brings_no_handle) {
  accounts_.knows(kAlice, account_of(alice_, "alice.example"));
  commit(alice_);
  heads_.add(1, {kAlice, atproto::RepositoryHead{alice_.head().rev, alice_.head().data}, true},
             verify::Continuity::Next);
  open(true, 100, true);
  push("#commit", commit(alice_));
  expect_all_done();
  EXPECT_EQ(events_.kinds(kAlice), Kinds{"1:record"});
  EXPECT_EQ(intake_.broke, 0U);
}

TEST_F(DecoderTest, a_document_that_changed_meanwhile_brings_its_handle_as_it_is_now) {
  const SignedRepository new_key(atproto::Curve::p256, 9);
  accounts_.knows(kAlice, account_of(alice_, "old.example"));
  accounts_.hold(kAlice);
  open();
  push("#commit", commit(alice_, new_key));
  ASSERT_TRUE(accounts_.wait_until_asked("known " + kAlice));
  ASSERT_TRUE(accounts_.answer(kAlice));
  ASSERT_TRUE(accounts_.wait_until_asked("recent " + kAlice));
  accounts_.knows(kAlice, account_of(new_key, "new.example"));
  ASSERT_TRUE(accounts_.answer(kAlice));
  expect_all_done();
  EXPECT_EQ(events_.kinds(kAlice), (Kinds{"1:record", "1:new.example"}));
}

TEST_F(DecoderTest, a_document_without_a_handle_introduces_nobody) {
  accounts_.knows(kAlice, account_of(alice_, ""));
  open();
  push("#commit", commit(alice_));
  push("#commit", commit(alice_));
  expect_all_done();
  EXPECT_EQ(events_.kinds(kAlice), (Kinds{"1:record", "2:record"}));
  EXPECT_EQ(accounts_.asked("known " + kAlice), 1U) << "that it has none is known as well";
}

TEST_F(DecoderTest, unverified_nobody_is_introduced) {
  accounts_.knows(kAlice, account_of(alice_, "alice.example"));
  open(false);
  push("#commit", commit(alice_));
  expect_all_done();
  EXPECT_EQ(events_.kinds(kAlice), Kinds{"1:record"});
}

// --- accounts and identities

TEST_F(DecoderTest, identities_of_an_account_that_wait_are_merged) {
  accounts_.knows(kAlice, account_of(alice_, "first.example"));
  open();
  push("#commit", commit(alice_));
  ASSERT_TRUE(events_.wait_until_there_are(2, kAlice));
  accounts_.hold(kAlice);
  for (int i = 0; i < 1'000; ++i) push("#identity", identity());
  push("#commit", commit(alice_));
  for (int i = 0; i < 1'000; ++i) push("#identity", identity());
  ASSERT_TRUE(accounts_.wait_until_asked("now " + kAlice));
  pass();
  EXPECT_EQ(intake_.merged_identities, 1'997U);
  // Four of Alice, and perhaps that of `pass`.
  EXPECT_LE(in_flight_.unfinished(), 5U);
  accounts_.knows(kAlice, account_of(alice_, "last.example"));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(accounts_.wait_until_asked("now " + kAlice, static_cast<std::size_t>(i) + 1));
    while (!accounts_.answer(kAlice)) std::this_thread::yield();
  }
  expect_all_done();
  EXPECT_EQ(accounts_.asked("now " + kAlice), 3U);
  const auto kinds = events_.kinds(kAlice);
  EXPECT_EQ(kinds.back(), "2002:last.example") << "the last message is kept";
}

TEST_F(DecoderTest, the_hosting_status_of_the_host_decides_and_is_counted) {
  accounts_.knows(kAlice, account_of(alice_));
  open();
  push("#commit", commit(alice_));
  accounts_.host_says(kAlice, HostStatus{true, ""});
  push("#account", account(false, "deactivated"));
  expect_all_done();
  EXPECT_EQ(events_.seqs(kAlice), Seqs{1});
  EXPECT_EQ(intake_.stale_accounts, 1U);
  EXPECT_TRUE(heads_.collect_gaps(in_flight_.first_unfinished()).empty());
  accounts_.host_says(kAlice, documents::errc::server_failed);
  push("#account", account(false, "deleted"));
  expect_all_done();
  EXPECT_EQ(intake_.unsettled_accounts, 1U);
  const auto& gaps = heads_.collect_gaps(in_flight_.first_unfinished());
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps.front().did, kAlice);
  EXPECT_FALSE(events_.last<event::AccountChange>().purge);
  accounts_.host_says(kAlice, HostStatus{false, "deleted"});
  push("#account", account(false, "deleted"));
  expect_all_done();
  EXPECT_TRUE(events_.last<event::AccountChange>().purge);
  EXPECT_EQ(accounts_.asked("status " + kAlice), 3U);
  EXPECT_EQ(events_.seqs(kAlice), (Seqs{1, 3, 4}));
  push("#account", account(false, "takendown"));
  expect_all_done();
  EXPECT_FALSE(heads_.newest(kAlice)->active);
  EXPECT_EQ(heads_.newest(kAlice)->head->rev, alice_.head().rev);
}

TEST_F(DecoderTest, gaps_are_counted_and_logged_with_the_head) {
  accounts_.knows(kAlice, account_of(alice_));
  open();
  push("#commit", commit(alice_));
  commit(alice_);
  push("#commit", commit(alice_));
  commit(alice_);
  push("#sync", alice_.sync());
  push("#commit", commit(alice_));
  expect_all_done();
  EXPECT_EQ(intake_.verified, 4U);
  EXPECT_EQ(intake_.broke, 2U);
  const auto& progress = heads_.collect(100);
  ASSERT_EQ(progress.size(), 1U);
  EXPECT_EQ(progress.front().breaks, 2);
  EXPECT_EQ(progress.front().row.head->rev, alice_.head().rev);
}

TEST_F(DecoderTest, a_host_is_asked_once_though_another_answer_comes_meanwhile) {
  accounts_.knows(kAlice, account_of(alice_));
  accounts_.host_says(kAlice, HostStatus{false, "deactivated"});
  open();
  push("#commit", commit(alice_));
  expect_all_done();
  clock_.advance(24h);
  accounts_.hold(kAlice);
  push("#commit", commit(alice_));  // asks for the key beside the work
  push("#account", account(false, "deactivated"));
  ASSERT_TRUE(accounts_.wait_until_asked("status " + kAlice));
  ASSERT_TRUE(accounts_.answer(kAlice));  // the key
  pass();
  pass();
  EXPECT_EQ(accounts_.asked("status " + kAlice), 1U);
  EXPECT_EQ(intake_.accounts_waiting, 1U);
  ASSERT_TRUE(accounts_.answer(kAlice));
  expect_all_done();
  EXPECT_EQ(events_.seqs(kAlice), (Seqs{1, 2, 3})) << "and those that only made time pass";
}

TEST_F(DecoderTest, a_repository_is_looked_up_once_though_another_answer_comes_meanwhile) {
  accounts_.knows(kAlice, account_of(alice_));
  accounts_.knows(kBob, account_of(bob_));
  open(true, 1);
  push("#commit", commit(alice_));
  expect_all_done();
  clock_.advance(24h);
  accounts_.hold(kAlice);
  push("#commit", commit(alice_));  // asks for the key beside the work
  expect_all_done();
  for (int i = 0; i < 3; ++i) {  // alice is forgotten
    push("#commit", commit(bob_, kBob));
    pass();
  }
  expect_all_done();
  const json body = commit(alice_);
  push("#commit", body);
  ASSERT_TRUE(accounts_.wait_until_asked("known " + kAlice, 2));
  ASSERT_TRUE(accounts_.answer(kAlice));  // the key
  pass();
  pass();
  ASSERT_TRUE(accounts_.answer(kAlice));  // the look-up
  expect_all_done();
  EXPECT_FALSE(accounts_.answer(kAlice)) << "it was asked again";
  push("#commit", body);
  pass();
  EXPECT_EQ(dropped(errc::old_rev), 1U) << "an older answer must not undo what came since";
}

TEST_F(DecoderTest, no_word_about_an_account_is_from_the_future) {
  open(false);
  const std::string future = format_datetime(clock_.now() + std::chrono::hours(10'000));
  json claim = identity();
  claim["time"] = future;
  push("#identity", claim);
  expect_all_done();
  EXPECT_EQ(events_.last<event::IdentityChange>().time, clock_.now());
  json gone = account(false, "deactivated");
  gone["time"] = future;
  push("#account", gone);
  expect_all_done();
  EXPECT_EQ(events_.last<event::AccountChange>().time, clock_.now());
  const Timestamp before = clock_.now() - 1s;
  gone["time"] = format_datetime(before);
  push("#account", gone);
  expect_all_done();
  EXPECT_EQ(events_.last<event::AccountChange>().time, before);
}

TEST_F(DecoderTest, an_older_question_does_not_answer_an_identity) {
  accounts_.knows(kAlice, account_of(alice_, "old.example"));
  open();
  push("#commit", commit(alice_));
  expect_all_done();
  clock_.advance(24h);
  accounts_.hold(kAlice);
  push("#commit", commit(alice_));  // asks for the key beside the work
  push("#identity", identity("claimed.example"));
  ASSERT_TRUE(accounts_.wait_until_asked("now " + kAlice));
  ASSERT_TRUE(accounts_.answer(kAlice));
  pass();
  EXPECT_EQ(intake_.identities, 0U);
  accounts_.knows(kAlice, account_of(alice_, "new.example"));
  ASSERT_TRUE(accounts_.answer(kAlice));
  expect_all_done();
  EXPECT_EQ(events_.last<event::IdentityChange>().handle, "new.example");
}

// --- the end

TEST_F(DecoderTest, what_waits_at_the_end_is_left_unfinished) {
  accounts_.knows(kAlice, account_of(alice_));
  accounts_.knows(kBob, account_of(bob_));
  accounts_.hold(kAlice);
  open();
  for (int i = 0; i < 3; ++i) push("#commit", commit(alice_));
  push("#commit", commit(bob_, kBob));
  ASSERT_TRUE(events_.wait_until_there_are(1));
  ASSERT_TRUE(accounts_.wait_until_asked("known " + kAlice));
  decoder_->close();
  decoder_->join();
  EXPECT_EQ(decoder_->abandoned(), 3U);
  const auto now = std::chrono::steady_clock::now();
  EXPECT_TRUE(in_flight_.wait_until_at_most(3, now));
  EXPECT_FALSE(in_flight_.wait_until_at_most(2, now));
  EXPECT_EQ(in_flight_.watermark(), std::nullopt);
  EXPECT_EQ(in_flight_.first_unfinished(), 0U);
  EXPECT_TRUE(accounts_.answer(kAlice)) << "too late, and harmless";
  EXPECT_EQ(events_.seqs(kAlice), Seqs{});
  decoder_.reset();
}

TEST_F(DecoderTest, frames_that_are_queued_at_the_end_are_decoded) {
  open(false);
  for (int i = 0; i < 50; ++i) push("#commit", commit(alice_));
  decoder_->close();
  decoder_->join();
  EXPECT_EQ(decoder_->abandoned(), 0U);
  EXPECT_EQ(events_.seqs(kAlice).size(), 50U);
}

/// The questions about these accounts are answered at random times. In any case each account's
/// frames come out once and in their order, without the merged #identity messages.
class DecoderInterleaving : public DecoderTest, public testing::WithParamInterface<unsigned> {};

TEST_P(DecoderInterleaving, keeps_each_accounts_order) {
  constexpr std::size_t kAccounts = 6;
  std::mt19937 random(GetParam());
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  struct Account {
    std::string did;
    SignedRepository repository;
    Seqs expected;
  };
  std::vector<Account> all;
  for (std::size_t i = 0; i < kAccounts; ++i) {
    const std::string did = "did:plc:" + std::string(24, static_cast<char>('a' + i));
    const auto secret = static_cast<unsigned char>(20 + i);
    all.push_back({did, SignedRepository(atproto::Curve::k256, secret), {}});
    accounts_.knows(did, account_of(all.back().repository));
    accounts_.host_says(did, HostStatus{true, ""});
    accounts_.hold(did);
  }
  const bool forgets = GetParam() % 2 == 0;
  open(true, forgets ? 3 : 100);
  std::atomic<bool> pushed = false;
  std::jthread answering([&, seed = GetParam()] {
    std::mt19937 other(seed + 1'000);
    while (!pushed || in_flight_.frames() > 0) {
      accounts_.answer(all[other() % kAccounts].did, other() % 2);
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 300; ++i) {
    Account& one = all[below(kAccounts)];
    switch (below(6)) {
      case 0:
        one.expected.push_back(push("#identity", identity("claimed.example", one.did)));
        break;
      case 1:  // denied by the host
        push("#account", account(false, "deactivated", one.did));
        break;
      case 2:  // of another's key
        push("#commit", commit(bob_, one.did));
        break;
      default:
        one.expected.push_back(push("#commit", commit(one.repository, one.did)));
    }
    if (i % 60 == 0) clock_.advance(25h);
  }
  pushed = true;
  expect_all_done();
  answering.join();
  std::size_t expected = 0;
  std::size_t merged = 0;
  for (const Account& one : all) {
    const Seqs seqs = events_.seqs(one.did);
    EXPECT_TRUE(std::includes(one.expected.begin(), one.expected.end(), seqs.begin(), seqs.end()))
        << one.did;
    expected += one.expected.size();
    merged += one.expected.size() - seqs.size();
  }
  EXPECT_EQ(intake_.merged_identities, merged);
  EXPECT_EQ(intake_.verified + intake_.identities, expected - merged);
}

INSTANTIATE_TEST_SUITE_P(seeds, DecoderInterleaving, testing::Range(1U, 7U));

}  // namespace
}  // namespace skua::pipeline::decoder_test
