#include "accounts/network_accounts.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "documents/errc.hpp"
#include "documents/made_document.hpp"
#include "documents/plc_server.hpp"
#include "support/manual_clock.hpp"
#include "transport/loopback_server.hpp"

namespace skua::accounts::network_accounts_test {
namespace {

using namespace std::chrono_literals;
using documents::HostStatus;
using Freshness = AccountSource::Freshness;

std::string did_of_port(int port) {
  return "did:web:localhost%3A" + std::to_string(port);
}

/// A host that takes connections and says nothing.
class SilentHost {
 public:
  SilentHost() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
    auto* const place = reinterpret_cast<sockaddr*>(&address);
    if (socket_ < 0 || ::bind(socket_, place, size) != 0 || ::listen(socket_, 64) != 0 ||
        ::getsockname(socket_, place, &size) != 0) {
      ADD_FAILURE() << "no socket";
    }
    port_ = ntohs(address.sin_port);
  }
  ~SilentHost() { ::close(socket_); }
  SilentHost(const SilentHost&) = delete;
  SilentHost& operator=(const SilentHost&) = delete;

  int port() const { return port_; }

 private:
  const int socket_;
  int port_ = 0;
};

/// Counts answers, and keeps the last.
template <class Answer>
class Answers {
 public:
  auto taker() {
    return [this](Result<Answer> answer) {
      const std::scoped_lock lock(mutex_);
      ++count_;
      last_ = std::move(answer);
      changed_.notify_all();
    };
  }
  std::optional<Result<Answer>> wait_for_one() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 1min, [&] { return count_ > 0; });
    return last_;
  }
  std::size_t count() const {
    const std::scoped_lock lock(mutex_);
    return count_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t count_ = 0;
  std::optional<Result<Answer>> last_;
};

/// Of a did:web account, its document and its status.
class Host {
 public:
  Host() {
    test::LoopbackServer::Options options;
    options.http = [this](const test::LoopbackServer::HttpRequest& request) {
      const std::string did = this->did();
      if (request.target() == "/.well-known/did.json") {
        return test::http_reply(200, test::made_document(did, "web.example", url()).dump());
      }
      return test::http_reply(200,
                              R"({"did":")" + did + R"(","active":false,"status":"deactivated"})");
    };
    server_ = std::make_unique<test::LoopbackServer>(options);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }
  std::string did() const { return did_of_port(server_->port()); }

 private:
  std::unique_ptr<test::LoopbackServer> server_;
};

class NetworkAccountsTest : public testing::Test {
 protected:
  NetworkAccountsOptions options() {
    NetworkAccountsOptions options;
    options.plc_url = plc_.url();
    options.allow_private_hosts = true;
    return options;
  }

  test::PlcServer plc_;
  Host host_;
};

TEST_F(NetworkAccountsTest, a_status_is_asked_of_the_host_that_the_document_names) {
  NetworkAccounts accounts(options(), system_clock());
  Answers<HostStatus> statuses;
  accounts.status(host_.did(), statuses.taker());
  const auto status = statuses.wait_for_one();
  ASSERT_TRUE(status && *status) << status->error().message();
  EXPECT_EQ((*status)->status, "deactivated");
  Answers<HostStatus> of_nobody;
  accounts.status("did:example:nobody", of_nobody.taker());
  EXPECT_EQ(of_nobody.wait_for_one()->error(), documents::errc::did_method);
}

TEST_F(NetworkAccountsTest, a_hundred_silent_hosts_asked_for_a_status_delay_no_key) {
  NetworkAccounts accounts(options(), system_clock());
  std::vector<std::unique_ptr<SilentHost>> silent;
  Answers<HostStatus> statuses;
  for (int i = 0; i < 100; ++i) {
    silent.push_back(std::make_unique<SilentHost>());
    accounts.status(did_of_port(silent.back()->port()), statuses.taker());
  }
  // The documents of these are there, their hosts are silent.
  for (char c = 'a'; c < 'a' + 20; ++c) {
    const std::string did = "did:plc:" + std::string(24, c);
    plc_.reply_with(
        did, test::http_reply(
                 200, test::made_document(did, "plc.example",
                                          "http://localhost:" + std::to_string(silent[0]->port()))
                          .dump()));
    accounts.status(did, statuses.taker());
  }
  Answers<documents::Account> web;
  Answers<documents::Account> plc;
  accounts.identity_once(host_.did(), Freshness::Known, web.taker());
  accounts.identity_once("did:plc:" + std::string(24, 'z'), Freshness::Known, plc.taker());
  const auto of_web = web.wait_for_one();
  const auto of_plc = plc.wait_for_one();
  // Requests to silent hosts end after seconds: not one has.
  EXPECT_EQ(statuses.count(), 0U);
  ASSERT_TRUE(of_web && *of_web) << of_web->error().message();
  EXPECT_EQ((*of_web)->handle, "web.example");
  ASSERT_TRUE(of_plc && *of_plc) << of_plc->error().message();
  accounts.stop();
  EXPECT_EQ(statuses.count(), 120U) << "all are answered at the end";
}

/// An operation of the audit log.
nlohmann::json operation(const std::string& did, const std::string& multikey, Timestamp at) {
  return {
      {"did", did},
      {"createdAt", format_datetime(at)},
      {"nullified", false},
      {"operation",
       {{"type", "plc_operation"}, {"verificationMethods", {{"atproto", "did:key:" + multikey}}}}}};
}

TEST_F(NetworkAccountsTest, a_history_is_asked_for_again_for_a_commit_that_is_newer_than_it) {
  const std::string did = "did:plc:" + std::string(24, 'a');
  const std::string log = did + "/log/audit";
  test::ManualClock clock;
  NetworkAccounts accounts(options(), clock);
  const auto keys_at = [&](Timestamp time) {
    Answers<std::vector<atproto::Multikey>> keys;
    accounts.keys_near(did, time, AccountSource::KeyUse::Commits, keys.taker());
    const auto found = keys.wait_for_one();
    EXPECT_TRUE(found && *found);
    return (*found)->size();
  };
  auto operations =
      nlohmann::json::array({operation(did, test::k256_multikey(), clock.now() - 1min)});
  plc_.reply_with(log, test::http_reply(200, operations.dump()));
  EXPECT_EQ(keys_at(clock.now()), 1U);
  clock.advance(1s);
  operations.push_back(operation(did, test::p256_multikey(), clock.now()));
  plc_.reply_with(log, test::http_reply(200, operations.dump()));
  EXPECT_EQ(keys_at(clock.now() - 2s), 1U) << "the history knows all keys of an older commit";
  EXPECT_EQ(plc_.count(), 1U);
  EXPECT_EQ(keys_at(clock.now()), 2U);
  EXPECT_EQ(plc_.count(), 2U);
  for (int i = 0; i < 8; ++i) {
    clock.advance(1s);
    EXPECT_EQ(keys_at(clock.now()), 2U);
    EXPECT_EQ(plc_.count(), 3U) << "no request for each commit that nobody signed";
  }
  clock.advance(1s);
  keys_at(clock.now());
  EXPECT_EQ(plc_.count(), 4U);
  clock.advance(10s);
  EXPECT_EQ(keys_at(clock.now() - 1min), 2U) << "a history is kept for ten seconds at most";
  EXPECT_EQ(plc_.count(), 5U);
}

TEST_F(NetworkAccountsTest, a_labeler_without_a_host_has_no_status) {
  const std::string did = "did:plc:" + std::string(24, 'b');
  auto document = test::made_document(did);
  document["verificationMethod"][0]["id"] = "#atproto_label";
  document.erase("service");
  plc_.reply_with(did, test::http_reply(200, document.dump()));
  NetworkAccounts accounts(options(), system_clock());
  Answers<documents::Account> found;
  accounts.identity_once(did, Freshness::Known, found.taker());
  const auto account = found.wait_for_one();
  ASSERT_TRUE(account && *account) << account->error().message();
  EXPECT_EQ((*account)->key, std::nullopt);
  EXPECT_TRUE((*account)->label_key);
  Answers<HostStatus> statuses;
  accounts.status(did, statuses.taker());
  EXPECT_EQ(statuses.wait_for_one()->error(), documents::errc::document_without_pds);
}

}  // namespace
}  // namespace skua::accounts::network_accounts_test
