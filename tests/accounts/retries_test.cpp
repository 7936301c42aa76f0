#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "accounts/network_accounts.hpp"
#include "documents/errc.hpp"
#include "documents/plc_server.hpp"
#include "support/manual_clock.hpp"
#include "transport/errc.hpp"

namespace skua::accounts::retries_test {
namespace {

using namespace std::chrono_literals;
using documents::errc;
using test::http_reply;
using Freshness = AccountSource::Freshness;

const std::string kAlice = "did:plc:" + std::string(24, 'a');
const std::string kBob = "did:plc:" + std::string(24, 'b');
const std::string kWeb = "did:web:web.test";

/// Collects answers.
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
  /// The answers, once there are `count`. The test fails if they do not come within a minute.
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

class RetriesTest : public testing::Test {
 protected:
  RetriesTest() {
    options_.plc_url = plc_.url();
    // Each repetition is a request, as soon as possible.
    options_.remember_server_failure = 0s;
    options_.retry_pause = 1ms;
    options_.lookup = [this](const std::string&) -> Result<std::vector<std::string>> {
      ++look_ups_;
      return transport::errc::host_lookup_failed;
    };
  }
  void TearDown() override {
    plc_.release();
    if (accounts_) accounts_->stop();
  }

  void begin() { accounts_ = std::make_unique<NetworkAccounts>(options_, system_clock()); }
  void ask(const std::string& did, Freshness freshness) {
    accounts_->identity(did, freshness, identities_.taker());
  }
  void ask_keys() {
    accounts_->keys_near(kAlice, system_clock().now(), AccountSource::KeyUse::Commits,
                         keys_.taker());
  }

  test::PlcServer plc_;
  std::atomic<std::size_t> look_ups_{0};
  Answers<documents::Account> identities_;
  Answers<std::vector<atproto::Multikey>> keys_;
  Answers<documents::HostStatus> statuses_;
  NetworkAccountsOptions options_;
  std::unique_ptr<NetworkAccounts> accounts_;
};

TEST_F(RetriesTest, a_defect_of_the_data_is_the_answer) {
  begin();
  std::size_t answers = 0;
  for (const int status : {404, 410}) {
    const std::string did = status == 404 ? kAlice : kBob;
    plc_.reply_with(did, http_reply(status, "{}"));
    ask(did, Freshness::Known);
    EXPECT_FALSE(documents::is_server_failure(identities_.first(++answers).back().error()));
  }
  EXPECT_EQ(plc_.count(), 2U);
  plc_.reply_with(kAlice + "/log/audit", http_reply(404, "{}"));
  ask_keys();
  EXPECT_EQ(keys_.first(1).front().error(), errc::did_not_found);
}

TEST_F(RetriesTest, waits_for_the_directory_as_long_as_it_takes) {
  // The rate falls while the directory fails.
  options_.directory.at_least = 50;
  begin();
  plc_.reply_with(kAlice, http_reply(500, ""));
  ask(kAlice, Freshness::Known);
  ask(kAlice, Freshness::Recent);
  plc_.wait_for_requests(8);
  EXPECT_EQ(identities_.size(), 0U);
  plc_.reply_with(kAlice, "");
  for (const auto& answer : identities_.first(2)) EXPECT_TRUE(answer);
  accounts_->stop();
  EXPECT_EQ(identities_.size(), 2U) << "an answer comes once";
}

TEST_F(RetriesTest, waits_for_the_history_of_keys) {
  begin();
  plc_.reply_with(kAlice + "/log/audit", http_reply(500, ""));
  ask_keys();
  plc_.wait_for_requests(3);
  EXPECT_EQ(keys_.size(), 0U);
  plc_.reply_with(kAlice + "/log/audit", http_reply(200, "[]"));
  EXPECT_TRUE(keys_.first(1).front());
}

TEST_F(RetriesTest, does_not_wait_for_what_the_stream_says_itself) {
  options_.retry_pause = 1h;
  begin();
  plc_.reply_with(kAlice, http_reply(500, ""));
  ask(kAlice, Freshness::Now);
  accounts_->status(kAlice, statuses_.taker());
  accounts_->identity_once(kAlice, Freshness::Known, identities_.taker());
  for (const auto& answer : identities_.first(2)) EXPECT_EQ(answer.error(), errc::server_failed);
  EXPECT_EQ(statuses_.first(1).front().error(), errc::server_failed);
}

TEST_F(RetriesTest, the_host_of_a_did_web_has_three_tries) {
  begin();
  ask(kWeb, Freshness::Recent);
  EXPECT_EQ(identities_.first(1).front().error(), transport::errc::host_lookup_failed);
  EXPECT_EQ(look_ups_, 3U);
  // The next question has three again.
  ask(kWeb, Freshness::Recent);
  identities_.first(2);
  EXPECT_EQ(look_ups_, 6U);
}

TEST_F(RetriesTest, pauses_between_tries) {
  options_.retry_pause = 5ms;
  begin();
  plc_.reply_with(kAlice, http_reply(500, ""));
  const auto start = std::chrono::steady_clock::now();
  ask(kAlice, Freshness::Known);
  plc_.wait_for_requests(4);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 15ms);
}

TEST_F(RetriesTest, a_question_that_waits_delays_neither_others_nor_the_stop_and_has_no_answer) {
  options_.retry_pause = 1h;
  begin();
  plc_.reply_with(kAlice, http_reply(500, ""));
  plc_.reply_with(kAlice + "/log/audit", http_reply(500, ""));
  ask(kAlice, Freshness::Known);
  ask_keys();
  ask(kBob, Freshness::Known);
  EXPECT_TRUE(identities_.first(1).front());
  plc_.wait_for_requests(3);
  accounts_->stop();
  accounts_->stop();
  ask(kAlice, Freshness::Known);
  EXPECT_EQ(identities_.size(), 1U);
  EXPECT_EQ(keys_.size(), 0U);
}

TEST_F(RetriesTest, an_active_question_has_no_answer_at_a_stop_unless_it_is_about_the_present) {
  begin();
  plc_.hold();
  ask(kAlice, Freshness::Known);
  ask_keys();
  plc_.wait_for_requests(2);
  ask(kBob, Freshness::Now);
  plc_.wait_for_requests(3);
  accounts_->stop();
  EXPECT_EQ(identities_.first(1).front().error(), errc::stopped);
  EXPECT_EQ(identities_.size(), 1U);
  EXPECT_EQ(keys_.size(), 0U);
}

TEST_F(RetriesTest, an_account_has_a_share_of_the_new_documents) {
  test::ManualClock pace;
  options_.pace = &pace;
  begin();
  const std::size_t share = options_.new_of_account.burst;
  for (std::size_t i = 0; i < share + 3; ++i) ask(kAlice, Freshness::Now);
  identities_.first(share);
  ask(kBob, Freshness::Now);
  identities_.first(share + 1);
  // Other questions are not affected.
  ask(kAlice, Freshness::Recent);
  identities_.first(share + 2);
  EXPECT_EQ(identities_.size(), share + 2);
  accounts_->stop();
  EXPECT_EQ(identities_.size(), share + 5) << "those that waited are told of the stop";
}

}  // namespace
}  // namespace skua::accounts::retries_test
