#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "accounts/network_accounts.hpp"
#include "documents/errc.hpp"
#include "documents/made_document.hpp"
#include "documents/plc_server.hpp"
#include "transport/loopback_server.hpp"

namespace skua::accounts::hosting_status_test {
namespace {

using namespace std::chrono_literals;
using documents::errc;
using documents::HostStatus;

std::string plc(int number) {
  return "did:plc:" + std::string(23, 'a') + static_cast<char>('a' + number);
}

/// A host that gives statuses and did:web documents when the test permits it.
class Host {
 public:
  Host() {
    test::LoopbackServer::Options options;
    options.http = [this](const test::LoopbackServer::HttpRequest& request) {
      return answer(std::string(request.target()));
    };
    server_ = std::make_unique<test::LoopbackServer>(options);
    port_ = std::to_string(server_->port());
  }
  ~Host() { release(); }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const std::string& port() const { return port_; }
  /// Of the did:web account whose document is here.
  std::string did() const { return "did:web:localhost%3A" + port(); }

  void release() {
    const std::scoped_lock lock(mutex_);
    is_held_ = false;
    changed_.notify_all();
  }
  bool wait_for_requests(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 1min, [&] { return count_ >= count; });
  }
  std::size_t count() const {
    const std::scoped_lock lock(mutex_);
    return count_;
  }

 private:
  std::string answer(const std::string& target) {
    std::unique_lock lock(mutex_);
    ++count_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !is_held_; });
    if (target == "/.well-known/did.json") {
      const std::string url = "http://localhost:" + port();
      return test::http_reply(200, test::made_document(did(), "web.example", url).dump());
    }
    std::string did = target.substr(target.find("did=") + 4);
    if (const auto escaped = did.find("%25"); escaped != did.npos) did.replace(escaped, 3, "%");
    return test::http_reply(200,
                            R"({"did":")" + did + R"(","active":false,"status":"deactivated"})");
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_held_ = true;
  std::size_t count_ = 0;
  std::string port_;
  /// Ends its threads, which use the others.
  std::unique_ptr<test::LoopbackServer> server_;
};

/// What came of questions.
class Answers {
 public:
  AccountSource::StatusDone taker() {
    return [this](Result<HostStatus> status) {
      const std::scoped_lock lock(mutex_);
      all_.push_back(std::move(status));
      changed_.notify_all();
    };
  }
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 1min, [&] { return all_.size() >= count; });
  }
  /// The number of answers with this error; without an error: of answers with a status.
  std::size_t count(ErrorCode error = {}) const {
    const std::scoped_lock lock(mutex_);
    return static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), [&](const auto& one) {
      return (one.has_error() ? one.error() : ErrorCode()) == error;
    }));
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Result<HostStatus>> all_;
};

class HostingStatusTest : public testing::Test {
 protected:
  HostingStatusTest() {
    options_.plc_url = plc_.url();
    options_.allow_private_hosts = true;
    // A slow machine must not end what a test does not mean to end.
    options_.connect_timeout = 10min;
    options_.total_timeout = 10min;
    options_.statuses.patience = 10min;
    // Every name leads to loopback.
    options_.lookup = [](const std::string&) -> Result<std::vector<std::string>> {
      return std::vector<std::string>{"127.0.0.1"};
    };
  }
  void TearDown() override {
    plc_.release();
    host_.release();
    other_.release();
    if (accounts_) accounts_->stop();
  }

  void begin() { accounts_ = std::make_unique<NetworkAccounts>(options_, system_clock()); }
  void ask(const std::string& did) { accounts_->status(did, answers_.taker()); }
  /// The document of the account names this host.
  void lives_on(const std::string& did, const std::string& pds) {
    plc_.reply_with(did, test::http_reply(200, test::made_document(did, "a.example", pds).dump()));
  }
  std::string plc_port() const { return plc_.url().substr(plc_.url().rfind(':') + 1); }
  /// Returns when all questions so far have begun what they may begin.
  void settle() {
    Answers nobody;
    accounts_->status("did:example:nobody", nobody.taker());
    ASSERT_TRUE(nobody.wait_for(1));
  }

  test::PlcServer plc_;
  Host host_;
  Host other_;
  Answers answers_;
  NetworkAccountsOptions options_;
  std::unique_ptr<NetworkAccounts> accounts_;
};

TEST_F(HostingStatusTest, a_host_is_asked_only_if_a_document_names_it) {
  begin();
  plc_.reply_with(plc(0), test::http_reply(404, "{}"));
  plc_.reply_with(plc(1), test::http_reply(410, "{}"));
  for (int i = 0; i < 2; ++i) ask(plc(i));
  ASSERT_TRUE(answers_.wait_for(2));
  EXPECT_EQ(answers_.count(errc::did_not_found), 1U);
  EXPECT_EQ(answers_.count(), 1U) << "an ended DID is deleted everywhere";
  EXPECT_EQ(host_.count(), 0U);
}

TEST_F(HostingStatusTest, the_document_is_fetched_for_the_question) {
  begin();
  host_.release();
  other_.release();
  lives_on(plc(0), "http://localhost:" + host_.port());
  ask(plc(0));
  ASSERT_TRUE(answers_.wait_for(1));
  lives_on(plc(0), "http://localhost:" + other_.port());
  ask(plc(0));
  ASSERT_TRUE(answers_.wait_for(2));
  EXPECT_EQ(answers_.count(), 2U);
  EXPECT_EQ(host_.count(), 1U);
  EXPECT_EQ(other_.count(), 1U) << "the account has moved";
}

TEST_F(HostingStatusTest, directory_documents_and_hosts_have_places_of_their_own) {
  options_.statuses.directory_at_once = 3;
  options_.statuses.web_at_once = 1;
  begin();
  plc_.hold();
  for (int i = 0; i < 8; ++i) {
    lives_on(plc(i), "http://pds" + std::to_string(i) + ".test:" + other_.port());
    ask(plc(i));
  }
  plc_.wait_for_requests(3);
  ask(host_.did());
  ASSERT_TRUE(host_.wait_for_requests(1)) << "a host does not wait for the directory";
  settle();
  EXPECT_EQ(plc_.count(), 3U);
  plc_.release();
  ASSERT_TRUE(other_.wait_for_requests(8)) << "each on a host of its own";
  other_.release();
  host_.release();
  ASSERT_TRUE(answers_.wait_for(9));
  EXPECT_EQ(answers_.count(), 9U);
}

TEST_F(HostingStatusTest, a_silent_host_delays_its_own_accounts_only) {
  begin();
  for (int i = 0; i < 10; ++i) {
    lives_on(plc(i), "http://localhost:" + (i % 2 == 0 ? host_ : other_).port());
    ask(plc(i));
  }
  lives_on(plc(10), "http://quick.test:" + plc_port());
  while (host_.count() + other_.count() < 2) std::this_thread::yield();
  ask(plc(10));
  ASSERT_TRUE(answers_.wait_for(1)) << "another host is asked";
  EXPECT_EQ(host_.count() + other_.count(), 2U) << "ports do not make hosts";
}

TEST_F(HostingStatusTest, as_many_hosts_are_asked_at_once_as_the_limit_permits) {
  options_.statuses.hosts_at_once = 3;
  begin();
  for (int i = 0; i < 8; ++i) {
    lives_on(plc(i), "http://pds" + std::to_string(i) + ".test:" + host_.port());
    ask(plc(i));
  }
  plc_.wait_for_requests(8);
  ASSERT_TRUE(host_.wait_for_requests(3));
  settle();
  EXPECT_EQ(host_.count(), 3U);
  host_.release();
  ASSERT_TRUE(answers_.wait_for(8));
  EXPECT_EQ(answers_.count(), 8U);
}

TEST_F(HostingStatusTest, a_question_that_waits_too_long_is_refused) {
  options_.statuses.patience = 1ms;
  begin();
  for (int i = 0; i < 5; ++i) ask(host_.did());
  ASSERT_TRUE(answers_.wait_for(3));
  EXPECT_EQ(answers_.count(errc::busy), 3U);
  // The others are active, and their answers are awaited.
  ASSERT_TRUE(host_.wait_for_requests(2));
  host_.release();
  ASSERT_TRUE(answers_.wait_for(5));
}

TEST_F(HostingStatusTest, a_limited_number_of_questions_waits) {
  options_.statuses.waiting = 10;
  begin();
  for (int i = 0; i < 12; ++i) ask(host_.did());
  settle();
  EXPECT_EQ(answers_.count(errc::busy), 0U);
  ask(other_.did());
  ASSERT_TRUE(answers_.wait_for(1));
  EXPECT_EQ(answers_.count(errc::busy), 1U);
}

TEST_F(HostingStatusTest, all_are_answered_at_the_end) {
  begin();
  for (int i = 0; i < 5; ++i) ask(host_.did());
  ASSERT_TRUE(host_.wait_for_requests(2));
  accounts_->stop();
  EXPECT_EQ(answers_.count(errc::stopped), 5U);
  ask(host_.did());
  EXPECT_EQ(answers_.count(errc::stopped), 6U);
}

}  // namespace
}  // namespace skua::accounts::hosting_status_test
