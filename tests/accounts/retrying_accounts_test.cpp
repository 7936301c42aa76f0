#include "accounts/retrying_accounts.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "accounts/fake_accounts.hpp"
#include "identity/errc.hpp"

namespace skua::accounts::retrying_accounts_test {
namespace {

using namespace std::chrono_literals;
using identity::errc;
using Freshness = AccountSource::Freshness;

const std::string kAlice = "did:plc:alice";
const std::string kBob = "did:plc:bob";
const std::string kWeb = "did:web:web.example";

/// What was answered.
template <class Answer>
class Answers {
 public:
  std::function<void(Result<Answer>)> taker() {
    return [this](Result<Answer> answer) {
      const std::scoped_lock lock(mutex_);
      answers_.push_back(std::move(answer));
      changed_.notify_all();
    };
  }
  /// The first so many; a test fails when they do not come within a minute.
  std::vector<Result<Answer>> first(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, 1min, [&] { return answers_.size() >= count; }));
    return answers_;
  }
  std::size_t size() {
    const std::scoped_lock lock(mutex_);
    return answers_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Result<Answer>> answers_;
};

class RetryingAccountsTest : public testing::Test {
 protected:
  test::FakeAccounts accounts_;
  Answers<identity::Account> identities_;
  Answers<std::vector<atproto::Multikey>> keys_;
  Answers<identity::HostStatus> statuses_;
};

TEST_F(RetryingAccountsTest, gives_what_is_there_at_once) {
  accounts_.knows(kAlice, identity::Account{.handle = "alice.example"});
  accounts_.host_says(kAlice, identity::HostStatus{true, ""});
  accounts_.had(kAlice, {});
  RetryingAccounts patient(accounts_, 1h);
  for (const auto freshness : {Freshness::Known, Freshness::Recent, Freshness::Now}) {
    patient.identity(kAlice, freshness, identities_.taker());
  }
  patient.status(kAlice, statuses_.taker());
  patient.keys_near(kAlice, Timestamp{}, AccountSource::KeyUse::Commits, keys_.taker());
  for (const auto& identity : identities_.first(3)) EXPECT_EQ(identity->handle, "alice.example");
  EXPECT_TRUE(statuses_.first(1).front()->active);
  EXPECT_TRUE(keys_.first(1).front());
  EXPECT_TRUE(patient.has_hosts());
}

TEST_F(RetryingAccountsTest, an_account_has_a_share_of_the_fresh_documents) {
  accounts_.knows(kAlice, identity::Account{.handle = "alice.example"});
  accounts_.knows(kBob, identity::Account{.handle = "bob.example"});
  RetryingAccounts retrying(accounts_, 1h);
  const std::size_t share = RetryingAccounts::kFreshOfAccount.burst;
  for (std::size_t i = 0; i < share + 3; ++i) {
    retrying.identity(kAlice, Freshness::Now, identities_.taker());
  }
  EXPECT_EQ(identities_.size(), share) << "the fake answers during the call";
  retrying.identity(kBob, Freshness::Now, identities_.taker());
  EXPECT_EQ(identities_.size(), share + 1);
  EXPECT_EQ(identities_.first(share + 1).back()->handle, "bob.example");
  // Other questions are not affected.
  retrying.identity(kAlice, Freshness::Recent, identities_.taker());
  EXPECT_EQ(identities_.size(), share + 2);
}

TEST_F(RetryingAccountsTest, what_is_wrong_with_the_data_is_said_at_once) {
  RetryingAccounts patient(accounts_, 1h);
  std::size_t answers = 0;
  for (const errc error : {errc::did_not_found, errc::did_tombstoned, errc::document_without_key}) {
    accounts_.knows(kAlice, error);
    patient.identity(kAlice, Freshness::Known, identities_.taker());
    EXPECT_EQ(identities_.first(++answers).back().error(), error);
  }
  patient.keys_near(kAlice, Timestamp{}, AccountSource::KeyUse::Commits, keys_.taker());
  EXPECT_EQ(keys_.first(1).front().error(), errc::did_not_found);
}

TEST_F(RetryingAccountsTest, waits_for_the_directory_as_long_as_it_takes) {
  std::size_t answers = 0;
  RetryingAccounts patient(accounts_, 1ms);
  for (const errc error : {errc::server_failed, errc::rate_limited, errc::busy}) {
    accounts_.knows(kAlice, error);
    const std::size_t before = accounts_.asked("known " + kAlice);
    patient.identity(kAlice, Freshness::Known, identities_.taker());
    ASSERT_TRUE(accounts_.wait_until_asked("known " + kAlice, before + 8));
    EXPECT_EQ(identities_.size(), answers);
    accounts_.knows(kAlice, identity::Account{.handle = "alice.example"});
    EXPECT_TRUE(identities_.first(++answers).back());
  }
  patient.stop();
  EXPECT_EQ(identities_.size(), answers) << "an answer comes once";
}

TEST_F(RetryingAccountsTest, does_not_wait_for_what_the_stream_says_itself) {
  accounts_.knows(kAlice, errc::server_failed);
  RetryingAccounts patient(accounts_, 1h);
  patient.identity(kAlice, Freshness::Now, identities_.taker());
  patient.status(kAlice, statuses_.taker());
  EXPECT_EQ(identities_.first(1).front().error(), errc::server_failed);
  EXPECT_EQ(statuses_.first(1).front().error(), errc::server_failed);
}

TEST_F(RetryingAccountsTest, gives_the_host_of_a_did_web_three_tries) {
  accounts_.knows(kWeb, errc::server_failed);
  RetryingAccounts patient(accounts_, 1ms);
  patient.identity(kWeb, Freshness::Recent, identities_.taker());
  EXPECT_EQ(identities_.first(1).front().error(), errc::server_failed);
  EXPECT_EQ(accounts_.asked("recent " + kWeb), 3U);
  // The next time it has three again.
  patient.identity(kWeb, Freshness::Recent, identities_.taker());
  identities_.first(2);
  EXPECT_EQ(accounts_.asked("recent " + kWeb), 6U);
}

TEST_F(RetryingAccountsTest, pauses_between_tries) {
  accounts_.knows(kAlice, errc::server_failed);
  const auto start = std::chrono::steady_clock::now();
  RetryingAccounts patient(accounts_, 5ms);
  patient.identity(kAlice, Freshness::Known, identities_.taker());
  ASSERT_TRUE(accounts_.wait_until_asked("known " + kAlice, 4));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 15ms);
}

TEST_F(RetryingAccountsTest, one_that_waits_does_not_keep_others_nor_the_end_waiting) {
  accounts_.knows(kAlice, errc::server_failed);
  accounts_.knows(kBob, identity::Account{.handle = "bob.example"});
  RetryingAccounts patient(accounts_, 1h);
  patient.identity(kAlice, Freshness::Known, identities_.taker());
  patient.identity(kBob, Freshness::Known, identities_.taker());
  EXPECT_EQ(identities_.first(1).front()->handle, "bob.example");
  patient.stop();
  patient.stop();
  EXPECT_EQ(identities_.size(), 1U);
}

TEST_F(RetryingAccountsTest, answers_that_come_after_its_end_are_harmless) {
  accounts_.knows(kAlice, errc::server_failed);
  accounts_.hold(kAlice);
  {
    RetryingAccounts patient(accounts_, 1ms);
    patient.identity(kAlice, Freshness::Known, identities_.taker());
    ASSERT_TRUE(accounts_.wait_until_asked("known " + kAlice));
  }
  EXPECT_TRUE(accounts_.answer(kAlice));
  EXPECT_EQ(identities_.size(), 0U);
}

}  // namespace
}  // namespace skua::accounts::retrying_accounts_test
