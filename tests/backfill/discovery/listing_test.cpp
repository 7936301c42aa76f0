#include "backfill/discovery/listing.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backfill/errc.hpp"
#include "transport/loopback_server.hpp"
#include "transport/sim_process.hpp"

namespace skua::backfill::listing_test {
namespace {

using namespace std::chrono_literals;
using test::http_reply;
using test::LoopbackServer;
using ::testing::HasSubstr;
using transport::HostOrigin;

std::string json_reply(const std::string& body) {
  return http_reply(200, body, "Content-Type: application/json\r\n");
}

std::string page_of(const std::string& did, const std::string& cursor) {
  auto body = R"({"repos":[{"did":")" + did + R"("}])";
  if (!cursor.empty()) body += R"(,"cursor":")" + cursor + '"';
  return json_reply(body + "}");
}

/// A host that answers as the test says; what it was asked for, without the path.
class ListingTest : public ::testing::Test {
 protected:
  using Answer = std::function<std::string(const std::string& query)>;

  void serve(Answer answer) {
    LoopbackServer::Options options;
    options.http = [answer = std::move(answer)](const LoopbackServer::HttpRequest& request) {
      const std::string target(request.target());
      return answer(target.substr(target.find('?') + 1));
    };
    server_ = std::make_unique<LoopbackServer>(options);
  }

  Listing<RepoPage> listing(const std::string& cursor = "") {
    const auto origin = "http://127.0.0.1:" + std::to_string(server_->port());
    return {http_, system_clock(), repos_of(origin, HostOrigin::configured), cursor};
  }

  /// The DIDs of all pages; ends at the first failure, whose message comes last.
  static std::vector<std::string> walk(Listing<RepoPage>& listing) {
    std::vector<std::string> found;
    for (;;) {
      const auto answer = listing.next();
      if (const auto* failed = std::get_if<RequestFailed>(&answer)) {
        found.push_back(failed->message);
        return found;
      }
      const auto& page = std::get<RepoPage>(answer);
      for (const auto& repo : page.repos) found.push_back(repo.did);
      if (page.cursor.empty()) return found;
    }
  }

  static std::string message_of(errc error) { return make_error_code(error).message(); }

  std::unique_ptr<LoopbackServer> server_;
  transport::HttpClient http_{transport::HttpClientOptions{}};
};

TEST_F(ListingTest, goes_from_page_to_page_and_on_from_a_cursor) {
  serve([](const std::string& query) {
    if (query == "limit=1000") return page_of("did:web:a.test", "to b&c");
    if (query == "limit=1000&cursor=to%20b%26c") return page_of("did:web:b.test", "last");
    if (query == "limit=1000&cursor=last") return page_of("did:web:c.test", "");
    return http_reply(500, query);
  });
  auto all = listing();
  EXPECT_EQ(walk(all),
            (std::vector<std::string>{"did:web:a.test", "did:web:b.test", "did:web:c.test"}));
  auto rest = listing("to b&c");
  EXPECT_EQ(walk(rest), (std::vector<std::string>{"did:web:b.test", "did:web:c.test"}));
}

TEST_F(ListingTest, a_page_without_active_accounts_is_not_the_end) {
  serve([](const std::string& query) {
    if (query == "limit=1000") {
      return json_reply(R"({"cursor":"1","repos":[{"did":"did:web:x.test","active":false}]})");
    }
    if (query == "limit=1000&cursor=1") return json_reply(R"({"cursor":"2","repos":[]})");
    return page_of("did:web:a.test", "");
  });
  auto all = listing();
  EXPECT_EQ(walk(all), std::vector<std::string>{"did:web:a.test"});
}

TEST_F(ListingTest, ends_when_the_cursor_does_not_move) {
  serve([](const std::string&) { return page_of("did:web:a.test", "same"); });
  auto all = listing();
  EXPECT_EQ(walk(all), (std::vector<std::string>{"did:web:a.test", "did:web:a.test"}))
      << "the second page repeats the cursor";
  auto on = listing("same");
  EXPECT_EQ(walk(on), std::vector<std::string>{"did:web:a.test"});
}

class ListingCircles : public ListingTest, public ::testing::WithParamInterface<int> {};

TEST_P(ListingCircles, end_some_time) {
  const int before = 5;
  const int length = GetParam();
  serve([&](const std::string& query) {
    constexpr std::string_view kCursor = "&cursor=";
    const auto at = query.find(kCursor);
    const int page = at == std::string::npos ? 0 : std::stoi(query.substr(at + kCursor.size()));
    const int next = page + 1 == before + length ? before : page + 1;
    return page_of("did:web:a.test", std::to_string(next));
  });
  auto all = listing();
  const auto found = walk(all);
  EXPECT_EQ(found.back(), "did:web:a.test");
  EXPECT_LE(found.size(), static_cast<std::size_t>(4 * (before + length)));
}

INSTANTIATE_TEST_SUITE_P(Lengths, ListingCircles, ::testing::Values(1, 2, 3, 7, 64, 100));

TEST_F(ListingTest, ends_when_pages_stay_empty) {
  std::atomic<int> asked = 0;
  serve([&](const std::string&) {
    return json_reply(R"({"repos":[],"cursor":")" + std::to_string(++asked) + R"("})");
  });
  auto all = listing();
  EXPECT_EQ(walk(all), std::vector<std::string>{message_of(errc::list_empty_pages)});
  EXPECT_EQ(asked, 1000);
}

TEST_F(ListingTest, asks_for_the_same_page_after_a_failure) {
  std::atomic<int> asked = 0;
  serve([&](const std::string& query) {
    if (query == "limit=1000") return page_of("did:web:a.test", "1");
    switch (++asked) {
      case 1:
        return http_reply(429, "", "Retry-After: 17\r\n");
      case 2:
        return http_reply(503, "", "Retry-After: 5\r\n");
      case 3:
        return http_reply(501, R"({"error":"MethodNotImplemented","message":"no such list"})");
      case 4:
        return http_reply(200, "<html>");
      case 5:
        return std::string("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{");
      default:
        return page_of("did:web:b.test", "");
    }
  });
  auto all = listing();
  ASSERT_TRUE(std::holds_alternative<RepoPage>(all.next()));
  EXPECT_EQ(std::get<HostLimited>(all.next()).wait, 17s);
  auto failed = std::get<RequestFailed>(all.next());
  EXPECT_EQ(failed.message, "the host answered 503");
  EXPECT_EQ(failed.wait, 5s);
  failed = std::get<RequestFailed>(all.next());
  EXPECT_EQ(failed.message, "the host answered 501 MethodNotImplemented: no such list");
  EXPECT_EQ(std::get<RequestFailed>(all.next()).message, message_of(errc::list_form));
  EXPECT_FALSE(std::get<RequestFailed>(all.next()).message.empty());
  EXPECT_EQ(std::get<RepoPage>(all.next()).repos.at(0).did, "did:web:b.test");
}

TEST_F(ListingTest, a_page_has_a_largest_size) {
  serve([](const std::string&) {
    return json_reply(R"({"repos":[],"x":")" + std::string(9 * 1024 * 1024, 'x') + R"("})");
  });
  auto all = listing();
  EXPECT_THAT(std::get<RequestFailed>(all.next()).message, HasSubstr("limit"));
}

TEST_F(ListingTest, a_host_of_the_networks_must_be_public) {
  serve([](const std::string&) { return page_of("did:web:a.test", ""); });
  const auto origin = "http://127.0.0.1:" + std::to_string(server_->port());
  Listing<RepoPage> listing(http_, system_clock(), repos_of(origin, HostOrigin::network), "");
  EXPECT_THAT(std::get<RequestFailed>(listing.next()).message, HasSubstr("--allow-private-hosts"));
  EXPECT_EQ(server_->connections(), 0);
}

/// The lists of a simulated network.
class SimulatedLists : public ::testing::Test {
 protected:
  static constexpr std::size_t kAccounts = 1200;

  void SetUp() override {
    auto pattern = (std::filesystem::temp_directory_path() / "skua-lists-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    sim_ = std::make_unique<test::SimProcess>(
        SKUA_SIM, "", folder_ / "log",
        std::vector<std::string>{"--accounts", std::to_string(kAccounts), "--records", "2400",
                                 "--hosts", "2", "--events", "1", "--seed", "5"});
    relay_ = sim_->ready().at("relay").get<std::string>();
  }

  void TearDown() override {
    sim_.reset();
    std::filesystem::remove_all(folder_);
  }

  template <class Page>
  std::vector<Page> pages(typename Listing<Page>::Source source) {
    transport::HttpClientOptions options;
    options.allow_private_hosts = true;
    transport::HttpClient http(options);
    Listing<Page> listing(http, system_clock(), std::move(source), "");
    std::vector<Page> pages;
    do {
      auto answer = listing.next();
      if (const auto* failed = std::get_if<RequestFailed>(&answer)) {
        ADD_FAILURE() << failed->message;
        return pages;
      }
      pages.push_back(std::get<Page>(std::move(answer)));
    } while (!pages.back().cursor.empty());
    return pages;
  }

  static std::set<std::string> dids(const std::vector<RepoPage>& pages) {
    std::set<std::string> dids;
    for (const auto& page : pages) {
      EXPECT_EQ(page.refused, 0U);
      for (const auto& repo : page.repos) EXPECT_TRUE(dids.insert(repo.did).second);
    }
    return dids;
  }

  std::filesystem::path folder_;
  std::unique_ptr<test::SimProcess> sim_;
  std::string relay_;
};

TEST_F(SimulatedLists, lead_to_every_account_in_each_way) {
  const auto at_relay = pages<RepoPage>(repos_of(relay_, HostOrigin::configured));
  EXPECT_EQ(at_relay.size(), 2U);
  for (const auto& repo : at_relay.front().repos) EXPECT_TRUE(repo.rev) << repo.did;
  const auto all = dids(at_relay);
  EXPECT_GE(all.size(), kAccounts * 9 / 10);

  std::set<std::string> at_hosts;
  const auto hosts = pages<HostPage>(hosts_of(relay_, HostOrigin::configured, true));
  ASSERT_EQ(hosts.size(), 1U);
  ASSERT_EQ(hosts[0].hosts.size(), 2U);
  for (const auto& host : hosts[0].hosts) {
    EXPECT_EQ(host.status, "active");
    at_hosts.merge(dids(pages<RepoPage>(repos_of(host.origin, HostOrigin::network))));
  }
  EXPECT_EQ(at_hosts, all);

  const auto with_likes = dids(
      pages<RepoPage>(repos_with_collection(relay_, "app.bsky.feed.like", HostOrigin::configured)));
  EXPECT_GT(with_likes.size(), 100U);
  EXPECT_TRUE(std::includes(all.begin(), all.end(), with_likes.begin(), with_likes.end()));
}

TEST_F(SimulatedLists, name_no_host_unless_private_ones_are_allowed) {
  const auto hosts = pages<HostPage>(hosts_of(relay_, HostOrigin::configured, false));
  ASSERT_EQ(hosts.size(), 1U);
  EXPECT_TRUE(hosts[0].hosts.empty());
  EXPECT_EQ(hosts[0].refused, 2U);
}

}  // namespace
}  // namespace skua::backfill::listing_test
