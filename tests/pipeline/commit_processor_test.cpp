#include "pipeline/commit_processor.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "documents/errc.hpp"
#include "support/manual_clock.hpp"
#include "support/message_bodies.hpp"
#include "verify/signed_repository.hpp"

namespace skua::pipeline::commit_processor_test {
namespace {

using namespace std::chrono_literals;
using accounts::AccountSource;
using documents::Account;
using documents::HostStatus;
using test::json;
using test::SignedRepository;
using verify::errc;

const std::string kAlice{test::kDid};
const std::string kBob = "did:plc:bbbbbbbbbbbbbbbbbbbbbbbb";
const std::string kWeb = "did:web:alice.example";

Account account_of(const SignedRepository& repository,
                   const std::string& handle = "alice.example") {
  return {.key = repository.key().multikey(), .handle = handle};
}

std::string text_of(const CommitProcessor::Ask& question) {
  using What = CommitProcessor::Ask::What;
  if (question.what == What::Repository) return "ask repository";
  if (question.what == What::HostStatus) return "ask host status";
  if (question.what == What::FormerKeys) return "ask former keys";
  if (question.freshness == AccountSource::Freshness::Known) return "ask known identity";
  if (question.freshness == AccountSource::Freshness::Recent) return "ask recent identity";
  return "ask identity now";
}

std::string text_of(const CommitProcessor::Accept& accepted) {
  std::string text = "accept";
  if (accepted.is_first) text += " first";
  if (accepted.continuity == verify::Continuity::Broken) text += " after a gap";
  if (accepted.has_former_key) text += " by a former key";
  if (accepted.is_unsettled) text += " unsettled";
  if (accepted.wants_resync) text += " and resync";
  if (accepted.is_active_again) text += " active again";
  if (accepted.wants_key) text += " and refresh the key";
  return text;
}

std::string text_of(const CommitProcessor::Outcome& outcome) {
  if (const auto* question = std::get_if<CommitProcessor::Ask>(&outcome)) return text_of(*question);
  if (const auto* accepted = std::get_if<CommitProcessor::Accept>(&outcome)) {
    return text_of(*accepted);
  }
  if (const auto* dropped = std::get_if<CommitProcessor::Drop>(&outcome)) {
    const std::string reason(verify::name_of(dropped->reason));
    return (dropped->is_gap ? "gap " : "drop ") + reason;
  }
  return "stale";
}

/// Each test is a script: a message or an answer, and the outcome of it.
class CommitProcessorTest : public testing::Test, protected test::MessageBodies {
 protected:
  void open(CommitProcessor::Options options = {}) { processor_.emplace(options); }

  std::string receive(const std::string& type, json body) {
    body["seq"] = ++seq_;
    frame_ = test::message(type, body);
    const auto decoded = decoder_.decode(frame_, message_);
    EXPECT_TRUE(decoded) << decoded.error().message();
    answers_ = {};
    return process();
  }
  std::string process() {
    outcome_ = processor_->process(message_, answers_, skips_host_, clock_.now());
    return text_of(outcome_);
  }

  /// The stored state of the message's repository and the identity of its account.
  std::string found(const Result<Account>& identity,
                    std::optional<atproto::RepositoryHead> head = std::nullopt) {
    tables::RepositoryRow row;
    row.did = message_.did;
    row.head = head;
    processor_->set_repository(row);
    std::optional<atproto::Multikey> key;
    if (identity) {
      key = identity->key;
      answers_.document_handle = identity->handle;
    }
    processor_->set_key(message_.did, key, clock_.now());
    return process();
  }
  std::string identified(const Result<Account>& identity) {
    const auto& question = std::get<CommitProcessor::Ask>(outcome_);
    processor_->set_identity(message_.did, identity, question.freshness, clock_.now());
    answers_.has_fresh_identity = true;
    if (identity) answers_.document_handle = identity->handle;
    return process();
  }
  std::string settled(const Result<HostStatus>& status) {
    answers_.asked_host = true;
    if (status) answers_.host_status = *status;
    return process();
  }
  std::string formerly_signed_by(const std::vector<atproto::Multikey>& keys) {
    answers_.has_former_keys = true;
    answers_.former_keys = keys;
    return process();
  }
  /// Receives the first commit of Alice.
  void know_alice() {
    ASSERT_EQ(receive("#commit", commit(alice_)), "ask repository");
    ASSERT_EQ(found(account_of(alice_)), "accept first");
  }

  json in_the_future(std::chrono::seconds ahead) {
    json body = commit(alice_);
    body["time"] = format_datetime(clock_.now());
    body["rev"] = atproto::Tid::from_time(clock_.now() + ahead, 0).to_string();
    return body;
  }

  template <class Change>
  const Change& change() const {
    return std::get<Change>(message_.events.front().body);
  }
  const std::optional<tables::RepositoryRow>& stored() const {
    return std::get<CommitProcessor::Accept>(outcome_).repository;
  }

  test::ManualClock clock_;
  SignedRepository alice_{atproto::Curve::k256, 7};
  SignedRepository bob_{atproto::Curve::p256, 8};
  SignedRepository new_key_{atproto::Curve::p256, 9};
  std::optional<CommitProcessor> processor_;
  event::FrameDecoder decoder_;
  Bytes frame_;
  event::DecodedFrame message_;
  Answers answers_;
  bool skips_host_ = false;
  CommitProcessor::Outcome outcome_;

 private:
  std::int64_t seq_ = 0;
};

// --- without verification

TEST_F(CommitProcessorTest, without_verification_it_drops_revisions_in_the_future_only) {
  open({.level = std::nullopt});
  EXPECT_EQ(receive("#commit", commit(alice_, bob_)), "accept");
  EXPECT_EQ(receive("#commit", in_the_future(verify::kFuture + 1s)), "drop future_rev");
  EXPECT_EQ(receive("#commit", in_the_future(verify::kFuture - 1s)), "accept");
  EXPECT_EQ(stored(), std::nullopt);
}

TEST_F(CommitProcessorTest, without_verification_the_stream_decides_about_accounts) {
  open({.level = std::nullopt});
  EXPECT_EQ(receive("#account", account(false, "deleted")), "accept");
  EXPECT_TRUE(change<event::AccountChange>().purge);
  EXPECT_EQ(change<event::AccountChange>().last_rev.value, 0U);
  EXPECT_EQ(receive("#account", account(true, "deleted")), "accept");
  EXPECT_FALSE(change<event::AccountChange>().purge);
  EXPECT_EQ(receive("#identity", identity("claimed.example")), "accept");
  EXPECT_EQ(change<event::IdentityChange>().handle, "claimed.example");
}

// --- commits

TEST_F(CommitProcessorTest, a_known_account_needs_no_answer) {
  open();
  know_alice();
  EXPECT_EQ(receive("#commit", commit(alice_)), "accept");
  ASSERT_TRUE(stored() && stored()->head);
  EXPECT_EQ(stored()->did, kAlice);
  EXPECT_EQ(stored()->head->rev, alice_.head().rev);
  EXPECT_EQ(stored()->head->data, alice_.head().data);
  EXPECT_TRUE(stored()->active);
}

TEST_F(CommitProcessorTest, a_stored_repository_is_not_new) {
  open();
  commit(alice_);
  const atproto::RepositoryHead head{alice_.head().rev, alice_.head().data};
  ASSERT_EQ(receive("#commit", commit(alice_)), "ask repository");
  EXPECT_EQ(found(account_of(alice_), head), "accept");
}

TEST_F(CommitProcessorTest, a_signed_commit_that_is_refused_is_a_gap_and_an_unsigned_one_is_not) {
  open();
  know_alice();
  json wrong = commit(alice_);
  wrong["prevData"] = wrong["commit"];
  EXPECT_EQ(receive("#commit", wrong), "gap wrong_prev_data");
  json malformed = commit(alice_);
  malformed["ops"][0].erase("action");
  EXPECT_EQ(receive("#commit", malformed), "gap malformed_op");
  // The head did not move: both commits are missing before the next one.
  EXPECT_EQ(receive("#commit", commit(alice_)), "accept after a gap");
  json of_other = commit(alice_);
  of_other["commit"] = of_other["prevData"];
  EXPECT_EQ(receive("#commit", of_other), "drop wrong_root");
  EXPECT_EQ(receive("#commit", wrong), "drop old_rev");
  // By no key of the account.
  ASSERT_EQ(receive("#commit", commit(alice_, new_key_)), "ask recent identity");
  ASSERT_EQ(identified(account_of(alice_)), "ask former keys");
  EXPECT_EQ(formerly_signed_by({}), "drop wrong_signature");
}

TEST_F(CommitProcessorTest, the_operation_of_a_record_without_a_block_waits_for_a_resync) {
  open();
  know_alice();
  using event::Operation;
  const std::string post = "app.bsky.feed.post/";
  const auto with_omitted = [&](const std::vector<SignedRepository::Change>& changes,
                                std::size_t omitted) {
    auto parts = alice_.change(changes);
    const auto cid = parts.body["ops"][omitted]["cid"]["$link"].get<std::string>();
    parts.blocks.erase(*atproto::Cid::parse(cid));
    return alice_.sign(parts);
  };
  EXPECT_EQ(receive("#commit", with_omitted({{Operation::Create, post + "k1", "one"},
                                             {Operation::Create, post + "k2", "two"}},
                                            0)),
            "accept and resync");
  ASSERT_EQ(message_.events.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<event::Rejection>(message_.events[0].body));
  EXPECT_TRUE(std::holds_alternative<event::RecordChange>(message_.events[1].body));
  // The same record again: nothing changes, and nothing is missing.
  EXPECT_EQ(receive("#commit", with_omitted({{Operation::Update, post + "k2", "two"},
                                             {Operation::Create, post + "k3", "three"}},
                                            0)),
            "accept");
  ASSERT_EQ(message_.events.size(), 1U);
  EXPECT_EQ(std::get<event::RecordChange>(message_.events[0].body).rkey, "k3");
  // A move: the record was in the repository before under another key.
  EXPECT_EQ(receive("#commit", with_omitted({{Operation::Delete, post + "k3", ""},
                                             {Operation::Create, post + "k4", "three"}},
                                            1)),
            "accept and resync");
  EXPECT_EQ(receive("#commit", commit(alice_)), "accept") << "the head has moved";
}

TEST_F(CommitProcessorTest, it_notices_and_follows_missing_messages) {
  open();
  know_alice();
  commit(alice_);
  EXPECT_EQ(receive("#commit", commit(alice_)), "accept after a gap");
  commit(alice_);
  EXPECT_EQ(receive("#sync", alice_.sync()), "accept after a gap");
  EXPECT_EQ(receive("#commit", commit(alice_)), "accept");
}

TEST_F(CommitProcessorTest, a_sync_can_be_the_first_message) {
  open();
  commit(alice_);
  ASSERT_EQ(receive("#sync", alice_.sync()), "ask repository");
  EXPECT_EQ(found(account_of(alice_)), "accept first");
  EXPECT_EQ(receive("#commit", commit(alice_)), "accept");
}

TEST_F(CommitProcessorTest, old_revisions_and_those_in_the_future_are_dropped) {
  open();
  know_alice();
  const json first = commit(alice_);
  const json second = commit(alice_);
  EXPECT_EQ(receive("#commit", first), "accept");
  EXPECT_EQ(receive("#commit", second), "accept");
  EXPECT_EQ(receive("#commit", second), "drop old_rev");
  EXPECT_EQ(receive("#commit", first), "drop old_rev");
  EXPECT_EQ(receive("#commit", in_the_future(verify::kFuture + 1s)), "drop future_rev");
}

TEST_F(CommitProcessorTest, a_forgotten_repository_is_asked_for_again) {
  open({.remembered = 1});
  know_alice();
  for (int i = 0; i < 3; ++i) {
    const std::string did = "did:plc:" + std::string(24, static_cast<char>('c' + i));
    ASSERT_EQ(receive("#commit", commit(bob_, did)), "ask repository");
    ASSERT_EQ(found(account_of(bob_), std::nullopt), "accept first");
  }
  EXPECT_EQ(receive("#commit", commit(alice_)), "ask repository");
}

TEST_F(CommitProcessorTest, a_late_answer_does_not_undo_later_messages) {
  open();
  know_alice();
  const json body = commit(alice_);
  EXPECT_EQ(receive("#commit", body), "accept");
  tables::RepositoryRow former;
  former.did = kAlice;
  processor_->set_repository(former);
  EXPECT_EQ(receive("#commit", body), "drop old_rev");
}

// --- keys

TEST_F(CommitProcessorTest, a_wrong_signature_is_final_after_a_recent_document_and_a_former_key) {
  open();
  EXPECT_EQ(receive("#commit", commit(alice_, bob_)), "ask repository");
  EXPECT_EQ(found(account_of(alice_)), "ask recent identity");
  EXPECT_EQ(identified(account_of(alice_)), "ask former keys");
  EXPECT_EQ(formerly_signed_by({}), "drop wrong_signature");
  // It changed nothing: the next commit is still the first.
  EXPECT_EQ(receive("#commit", commit(alice_)), "ask known identity");
  EXPECT_EQ(identified(account_of(alice_)), "accept first");
  EXPECT_EQ(receive("#commit", commit(alice_)), "accept");
}

TEST_F(CommitProcessorTest, a_new_key_is_found_without_a_message_about_it) {
  open();
  know_alice();
  EXPECT_EQ(receive("#commit", commit(alice_, new_key_)), "ask recent identity");
  EXPECT_EQ(identified(account_of(new_key_)), "accept");
  EXPECT_EQ(receive("#commit", commit(alice_, new_key_)), "accept");
  // The former key is not valid any more.
  EXPECT_EQ(receive("#commit", commit(alice_)), "ask recent identity");
  EXPECT_EQ(identified(account_of(new_key_)), "ask former keys");
  EXPECT_EQ(formerly_signed_by({new_key_.key().multikey()}), "drop wrong_signature");
}

TEST_F(CommitProcessorTest, an_identity_message_brings_a_new_key_before_it_is_needed) {
  open();
  know_alice();
  EXPECT_EQ(receive("#identity", identity("claimed.example")), "ask identity now");
  EXPECT_EQ(identified(account_of(new_key_)), "accept");
  EXPECT_EQ(receive("#commit", commit(alice_, new_key_)), "accept");
}

TEST_F(CommitProcessorTest, a_commit_from_before_a_key_rotation_needs_the_key_of_its_time) {
  open();
  EXPECT_EQ(receive("#commit", commit(alice_)), "ask repository");
  EXPECT_EQ(found(account_of(new_key_)), "ask recent identity");
  EXPECT_EQ(identified(account_of(new_key_)), "ask former keys");
  EXPECT_EQ(formerly_signed_by({alice_.key().multikey()}), "accept first by a former key");
  EXPECT_EQ(receive("#commit", commit(alice_, new_key_)), "accept");
}

TEST_F(CommitProcessorTest, of_several_keys_around_its_time_one_signed_a_commit) {
  open();
  const std::vector<atproto::Multikey> keys = {new_key_.key().multikey(), alice_.key().multikey(),
                                               bob_.key().multikey()};
  for (const SignedRepository* signer : {&alice_, &bob_}) {
    const bool is_first = signer == &alice_;
    const auto outcome = receive("#commit", commit(alice_, *signer));
    EXPECT_EQ(outcome, is_first ? "ask repository" : "ask recent identity");
    if (is_first) {
      EXPECT_EQ(found(account_of(new_key_)), "ask recent identity");
    }
    EXPECT_EQ(identified(account_of(new_key_)), "ask former keys");
    EXPECT_EQ(formerly_signed_by(keys),
              is_first ? "accept first by a former key" : "accept by a former key");
  }
  const SignedRepository stranger(atproto::Curve::k256, 10);
  EXPECT_EQ(receive("#commit", commit(alice_, stranger)), "ask recent identity");
  EXPECT_EQ(identified(account_of(new_key_)), "ask former keys");
  EXPECT_EQ(formerly_signed_by(keys), "drop wrong_signature");
}

TEST_F(CommitProcessorTest, without_hosts_it_does_not_ask_for_a_former_key) {
  open({.has_hosts = false});
  know_alice();
  EXPECT_EQ(receive("#commit", commit(alice_, bob_)), "ask recent identity");
  EXPECT_EQ(identified(account_of(alice_)), "drop wrong_signature");
}

TEST_F(CommitProcessorTest, a_did_web_account_has_no_former_key) {
  open();
  EXPECT_EQ(receive("#commit", commit(alice_, bob_, kWeb)), "ask repository");
  EXPECT_EQ(found(account_of(alice_)), "ask recent identity");
  EXPECT_EQ(identified(account_of(alice_)), "drop wrong_signature");
}

TEST_F(CommitProcessorTest, the_failure_of_a_server_does_not_invalidate_a_key) {
  open();
  know_alice();
  EXPECT_EQ(receive("#identity", identity("claimed.example")), "ask identity now");
  EXPECT_EQ(identified(documents::errc::server_failed), "accept");
  EXPECT_EQ(receive("#commit", commit(alice_)), "accept");
  EXPECT_EQ(receive("#identity", identity("claimed.example")), "ask identity now");
  EXPECT_EQ(identified(documents::errc::did_tombstoned), "accept");
  EXPECT_EQ(receive("#commit", commit(alice_)), "drop no_did_document");
}

TEST_F(CommitProcessorTest, a_missing_document_is_asked_for_again_after_minutes) {
  open();
  EXPECT_EQ(receive("#commit", commit(alice_)), "ask repository");
  EXPECT_EQ(found(documents::errc::did_not_found), "drop no_did_document");
  EXPECT_EQ(receive("#commit", commit(alice_)), "drop no_did_document");
  clock_.advance(5min);
  EXPECT_EQ(receive("#commit", commit(alice_)), "ask recent identity");
  // Also a server that fails counts as a missing document now, for minutes.
  EXPECT_EQ(identified(documents::errc::server_failed), "drop no_did_document");
  EXPECT_EQ(receive("#commit", commit(alice_)), "drop no_did_document");
  clock_.advance(5min);
  EXPECT_EQ(receive("#commit", commit(alice_)), "ask recent identity");
  EXPECT_EQ(identified(account_of(alice_)), "accept first");
}

TEST_F(CommitProcessorTest, a_key_that_is_a_day_old_is_refreshed_once) {
  open();
  know_alice();
  clock_.advance(24h - 1min);
  EXPECT_EQ(receive("#commit", commit(alice_)), "accept");
  clock_.advance(1min);
  EXPECT_EQ(receive("#commit", commit(alice_)), "accept and refresh the key");
  EXPECT_EQ(receive("#commit", commit(alice_)), "accept");
  processor_->set_identity(kAlice, documents::errc::did_tombstoned,
                           AccountSource::Freshness::Recent, clock_.now());
  EXPECT_EQ(receive("#commit", commit(alice_)), "drop no_did_document");
}

// --- accounts

TEST_F(CommitProcessorTest, commits_of_an_inactive_account_are_dropped_until_it_is_active) {
  open();
  know_alice();
  EXPECT_EQ(receive("#account", account(false, "takendown")), "accept")
      << "a takedown may be a decision of the relay";
  EXPECT_FALSE(stored()->active);
  EXPECT_EQ(receive("#commit", commit(alice_)), "drop inactive_account");
  EXPECT_EQ(receive("#account", account(true)), "accept");
  EXPECT_TRUE(stored()->active);
  EXPECT_EQ(receive("#commit", commit(alice_)), "accept after a gap");
}

/// A message that an account is inactive, and the hosting status that its host reports.
struct Inactive {
  const char* name;
  const char* status;
  Result<HostStatus> host;
  bool has_hosts = true;
  bool is_asked = true;
  const char* outcome = "accept";
  const char* final_status = "";
  bool purge = false;
  bool counts = true;  // whether later commits count
  friend std::ostream& operator<<(std::ostream& out, const Inactive& one) {
    return out << one.name;
  }
};

class InactiveAccounts : public CommitProcessorTest,
                         public testing::WithParamInterface<Inactive> {};

TEST_P(InactiveAccounts, are_settled_with_their_host) {
  const Inactive& one = GetParam();
  open({.has_hosts = one.has_hosts});
  know_alice();
  const std::string first = receive("#account", account(false, one.status));
  EXPECT_EQ(first == "ask host status", one.is_asked);
  EXPECT_EQ(one.is_asked ? settled(one.host) : first, one.outcome);
  if (std::string(one.outcome) != "stale") {
    const auto& change = this->change<event::AccountChange>();
    EXPECT_FALSE(change.active);
    EXPECT_EQ(change.status, one.final_status);
    EXPECT_EQ(change.purge, one.purge);
    EXPECT_EQ(change.last_rev, alice_.head().rev);
    EXPECT_EQ(stored()->active, one.counts);
    EXPECT_EQ(stored()->head->rev, alice_.head().rev);
  }
  EXPECT_EQ(receive("#commit", commit(alice_)), one.counts ? "accept" : "drop inactive_account");
}

const Result<HostStatus> kFailed = documents::errc::server_failed;

INSTANTIATE_TEST_SUITE_P(Table, InactiveAccounts,
                         testing::Values(Inactive{.name = "deleted_confirmed",
                                                  .status = "deleted",
                                                  .host = HostStatus{false, "deleted"},
                                                  .final_status = "deleted",
                                                  .purge = true},
                                         Inactive{.name = "deleted_denied",
                                                  .status = "deleted",
                                                  .host = HostStatus{true, ""},
                                                  .outcome = "stale"},
                                         Inactive{.name = "deleted_denied_with_a_status",
                                                  .status = "deleted",
                                                  .host = HostStatus{true, "throttled"},
                                                  .outcome = "stale"},
                                         Inactive{.name = "deleted_host_unknown",
                                                  .status = "deleted",
                                                  .host = kFailed,
                                                  .outcome = "accept unsettled and resync",
                                                  .final_status = "deleted"},
                                         Inactive{.name = "deleted_host_reports_deactivated",
                                                  .status = "deleted",
                                                  .host = HostStatus{false, "deactivated"},
                                                  .final_status = "deactivated"},
                                         Inactive{.name = "deactivated_confirmed",
                                                  .status = "deactivated",
                                                  .host = HostStatus{false, "deactivated"},
                                                  .final_status = "deactivated"},
                                         Inactive{.name = "deactivated_denied",
                                                  .status = "deactivated",
                                                  .host = HostStatus{true, ""},
                                                  .outcome = "stale"},
                                         Inactive{.name = "deactivated_host_reports_deleted",
                                                  .status = "deactivated",
                                                  .host = HostStatus{false, "deleted"},
                                                  .final_status = "deleted"},
                                         Inactive{.name = "deactivated_host_unknown",
                                                  .status = "deactivated",
                                                  .host = kFailed,
                                                  .outcome = "accept unsettled and resync",
                                                  .final_status = "deactivated"},
                                         Inactive{.name = "takendown",
                                                  .status = "takendown",
                                                  .host = HostStatus{true, ""},
                                                  .is_asked = false,
                                                  .final_status = "takendown",
                                                  .counts = false},
                                         Inactive{.name = "no_reason",
                                                  .status = "",
                                                  .host = HostStatus{true, ""},
                                                  .is_asked = false,
                                                  .final_status = "",
                                                  .counts = false},
                                         Inactive{.name = "deleted_without_hosts",
                                                  .status = "deleted",
                                                  .host = HostStatus{true, ""},
                                                  .has_hosts = false,
                                                  .is_asked = false,
                                                  .final_status = "deleted",
                                                  .purge = true}),
                         [](const auto& test) { return test.param.name; });

TEST_F(CommitProcessorTest, a_deleted_account_without_commits_has_no_last_revision) {
  open();
  ASSERT_EQ(receive("#account", account(false, "deleted")), "ask repository");
  ASSERT_EQ(found(documents::errc::did_not_found), "ask host status");
  EXPECT_EQ(settled(HostStatus{false, "deleted"}), "accept");
  EXPECT_TRUE(change<event::AccountChange>().purge);
  EXPECT_EQ(change<event::AccountChange>().last_rev.value, 0U);
}

TEST_F(CommitProcessorTest, the_first_commit_is_first_also_after_a_status) {
  open();
  ASSERT_EQ(receive("#account", account(true)), "ask repository");
  ASSERT_EQ(found(account_of(alice_)), "accept");
  EXPECT_EQ(receive("#commit", commit(alice_)), "ask known identity");
  EXPECT_EQ(identified(account_of(alice_)), "accept first");
}

/// The status of an account at a time relative to its newest commit.
json status_before(SignedRepository& repository, const std::string& status,
                   std::chrono::seconds before) {
  json body = {{"did", kAlice},
               {"active", false},
               {"status", status},
               {"time", format_datetime(repository.head().rev.time() - before)}};
  return body;
}

class LostActive : public CommitProcessorTest,
                   public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(LostActive, a_newer_commit_asks_the_host_once_an_hour) {
  const auto [status, next] = GetParam();
  open();
  know_alice();
  if (receive("#account", status_before(alice_, status, 1h)) == "ask host status") {
    ASSERT_EQ(settled(HostStatus{false, status}), "accept");
  }
  ASSERT_EQ(receive("#commit", commit(alice_)), "ask host status");
  EXPECT_EQ(settled(HostStatus{false, status}), next) << "the status holds";
  EXPECT_EQ(receive("#commit", commit(alice_)), next) << "not asked again";
  clock_.advance(1h);
  ASSERT_EQ(receive("#commit", commit(alice_)), "ask host status");
  EXPECT_EQ(settled(documents::errc::server_failed), next);
  clock_.advance(1h);
  ASSERT_EQ(receive("#commit", commit(alice_)), "ask host status");
  const std::string after = std::string(next) == "accept" ? "" : " after a gap and resync";
  EXPECT_EQ(settled(HostStatus{true, ""}), "accept" + after + " active again");
  EXPECT_TRUE(stored()->active);
  EXPECT_EQ(stored()->hidden_since, std::nullopt);
  EXPECT_EQ(receive("#commit", commit(alice_)), "accept");
}

INSTANTIATE_TEST_SUITE_P(Table, LostActive,
                         testing::Values(std::pair{"takendown", "drop inactive_account"},
                                         std::pair{"suspended", "drop inactive_account"},
                                         std::pair{"", "drop inactive_account"},
                                         std::pair{"deactivated", "accept"},
                                         std::pair{"deleted", "accept"}),
                         [](const auto& test) {
                           const std::string status = test.param.first;
                           return status.empty() ? "unknown" : status;
                         });

TEST_F(CommitProcessorTest, a_commit_that_proves_nothing_does_not_ask_about_the_status) {
  open();
  know_alice();
  ASSERT_EQ(receive("#account", status_before(alice_, "takendown", 1h)), "accept");
  json malformed = commit(alice_);
  malformed["ops"][0].erase("action");
  EXPECT_EQ(receive("#commit", malformed), "gap malformed_op");
  ASSERT_EQ(receive("#commit", commit(alice_, new_key_)), "ask recent identity");
  ASSERT_EQ(identified(account_of(alice_)), "ask former keys");
  EXPECT_EQ(formerly_signed_by({}), "drop wrong_signature");
  // From before the status.
  ASSERT_EQ(receive("#account", status_before(alice_, "takendown", -1h)), "accept");
  EXPECT_EQ(receive("#commit", commit(alice_)), "drop inactive_account");
}

TEST_F(CommitProcessorTest, a_stored_status_is_contradicted_after_a_restart) {
  open();
  commit(alice_);
  ASSERT_EQ(receive("#commit", commit(alice_)), "ask repository");
  tables::RepositoryRow row;
  row.did = kAlice;
  row.active = false;
  row.hidden_since = alice_.head().rev.time() - 1h;
  processor_->set_repository(row);
  processor_->set_key(kAlice, alice_.key().multikey(), clock_.now());
  answers_.document_handle = "";
  ASSERT_EQ(process(), "ask host status");
  EXPECT_EQ(settled(HostStatus{true, ""}), "accept first active again");
}

TEST_F(CommitProcessorTest, a_service_that_is_behind_does_not_hide_an_account) {
  open();
  know_alice();
  for (const char* status : {"desynchronized", "throttled"}) {
    EXPECT_EQ(receive("#account", account(false, status)), "accept");
    EXPECT_TRUE(change<event::AccountChange>().active);
    EXPECT_EQ(change<event::AccountChange>().status, status);
    EXPECT_EQ(receive("#commit", commit(alice_)), "accept");
  }
}

TEST_F(CommitProcessorTest, a_tombstoned_did_counts_as_deleted) {
  open();
  know_alice();
  ASSERT_EQ(receive("#identity", identity("claimed.example")), "ask identity now");
  answers_.is_tombstoned = true;
  EXPECT_EQ(identified(documents::errc::did_tombstoned), "accept");
  EXPECT_FALSE(change<event::AccountChange>().active);
  EXPECT_EQ(change<event::AccountChange>().status, "deleted");
  EXPECT_TRUE(change<event::AccountChange>().purge);
  EXPECT_EQ(change<event::AccountChange>().last_rev, alice_.head().rev);
  EXPECT_EQ(stored()->head->rev, alice_.head().rev);
}

TEST_F(CommitProcessorTest, an_identity_has_the_handle_of_the_document) {
  open();
  EXPECT_EQ(receive("#identity", identity("claimed.example")), "ask identity now");
  EXPECT_EQ(identified(account_of(alice_, "document.example")), "accept");
  EXPECT_EQ(change<event::IdentityChange>().handle, "document.example");
  json without = identity("");
  without.erase("handle");
  EXPECT_EQ(receive("#identity", without), "ask identity now");
  EXPECT_EQ(identified(account_of(alice_, "newer.example")), "accept");
  EXPECT_EQ(change<event::IdentityChange>().handle, "newer.example");
  EXPECT_EQ(receive("#identity", identity("claimed.example")), "ask identity now");
  EXPECT_EQ(identified(account_of(alice_, "")), "accept");
  EXPECT_EQ(change<event::IdentityChange>().handle, "") << "the document names no handle";
}

TEST_F(CommitProcessorTest, an_identity_without_a_document_keeps_its_handle) {
  open();
  EXPECT_EQ(receive("#identity", identity("claimed.example")), "ask identity now");
  EXPECT_EQ(identified(documents::errc::server_failed), "accept");
  EXPECT_EQ(change<event::IdentityChange>().handle, "claimed.example");
}

// --- accounts that no longer wait for their host

TEST_F(CommitProcessorTest, commits_that_need_a_skipped_host_leave_a_gap) {
  open();
  skips_host_ = true;
  EXPECT_EQ(receive("#commit", commit(alice_, kWeb)), "gap parked_over_budget");
  skips_host_ = false;
  EXPECT_EQ(receive("#commit", commit(alice_, kWeb)), "ask repository");
  EXPECT_EQ(found(account_of(alice_)), "accept first");
  skips_host_ = true;
  EXPECT_EQ(receive("#commit", commit(alice_, kWeb)), "accept") << "its key is known";
  EXPECT_EQ(receive("#commit", commit(alice_, new_key_, kWeb)), "gap parked_over_budget");
  processor_->set_identity(kWeb, documents::errc::did_not_found, AccountSource::Freshness::Recent,
                           clock_.now());
  clock_.advance(5min);
  EXPECT_EQ(receive("#commit", commit(alice_, kWeb)), "gap parked_over_budget");
}

TEST_F(CommitProcessorTest, a_skipped_host_is_not_asked_about_accounts_and_identities) {
  open();
  skips_host_ = true;
  EXPECT_EQ(receive("#account", account(false, "deleted", kWeb)), "accept unsettled and resync");
  EXPECT_FALSE(change<event::AccountChange>().purge);
  EXPECT_EQ(receive("#identity", identity("claimed.example", kWeb)), "accept");
  EXPECT_EQ(change<event::IdentityChange>().handle, "claimed.example");
}

TEST_F(CommitProcessorTest, the_directory_is_asked_also_when_the_host_is_skipped) {
  open();
  know_alice();
  skips_host_ = true;
  EXPECT_EQ(receive("#commit", commit(alice_, new_key_)), "ask recent identity");
  EXPECT_EQ(identified(account_of(new_key_)), "accept");
  EXPECT_EQ(receive("#identity", identity("claimed.example")), "ask identity now");
}

// --- other messages

TEST_F(CommitProcessorTest, other_messages_are_accepted) {
  open();
  EXPECT_EQ(receive("#info", {{"name", "OutdatedCursor"}}), "accept");
  EXPECT_EQ(receive("#novelty", {{"did", kAlice}}), "accept");
}

}  // namespace
}  // namespace skua::pipeline::commit_processor_test
