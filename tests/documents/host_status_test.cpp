#include "documents/host_status.hpp"

#include <string>

#include <gtest/gtest.h>

#include "documents/errc.hpp"
#include "transport/errc.hpp"
#include "transport/loopback_server.hpp"

namespace skua::documents::host_status_test {
namespace {

using test::http_reply;
using test::LoopbackServer;

const std::string kDid = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

struct Said {
  const char* name;
  unsigned status;
  std::string body;
  boost::system::error_code error;  // none: it is
  bool active = false;
  const char* account_status = "";
  friend std::ostream& operator<<(std::ostream& out, const Said& said) { return out << said.name; }
};

class HostAnswers : public testing::TestWithParam<Said> {};

TEST_P(HostAnswers, are_read) {
  transport::HttpAnswer answer;
  answer.status = GetParam().status;
  answer.body = GetParam().body;
  const auto read = read_host_status(answer, kDid);
  ASSERT_EQ(read.has_error() ? read.error() : boost::system::error_code{}, GetParam().error);
  if (GetParam().error) return;
  EXPECT_EQ(read->active, GetParam().active);
  EXPECT_EQ(read->status, GetParam().account_status);
}

std::string of_account(const std::string& rest, const std::string& did = kDid) {
  return R"({"did":")" + did + "\"" + rest + "}";
}

INSTANTIATE_TEST_SUITE_P(
    Table, HostAnswers,
    testing::Values(
        Said{"active", 200, of_account(R"(,"active":true,"rev":"3jquh3dxgi52o")"), {}, true},
        Said{"active_with_a_status",
             200,
             of_account(R"(,"active":true,"status":"throttled")"),
             {},
             true,
             "throttled"},
        Said{"deactivated",
             200,
             of_account(R"(,"active":false,"status":"deactivated")"),
             {},
             false,
             "deactivated"},
        Said{"takendown",
             200,
             of_account(R"(,"active":false,"status":"takendown")"),
             {},
             false,
             "takendown"},
        Said{"deleted",
             200,
             of_account(R"(,"active":false,"status":"deleted")"),
             {},
             false,
             "deleted"},
        Said{"inactive_without_a_reason", 200, of_account(R"(,"active":false)"), {}, false, ""},
        Said{"a_status_that_is_no_text",
             200,
             of_account(R"(,"active":false,"status":7)"),
             {},
             false,
             ""},
        Said{"a_null_status", 200, of_account(R"(,"active":true,"status":null)"), {}, true, ""},
        Said{"unknown_repository",
             400,
             R"({"error":"RepoNotFound","message":"Could not find"})",
             {},
             false,
             "deleted"},
        Said{"another_refusal", 400, R"({"error":"InvalidRequest","message":"did"})",
             errc::server_failed},
        Said{"a_refusal_in_other_words", 400, "RepoNotFound", errc::server_failed},
        Said{"a_refusal_that_is_a_list", 400, R"(["RepoNotFound"])", errc::server_failed},
        Said{"a_refusal_whose_error_is_no_text", 400, R"({"error":{"RepoNotFound":1}})",
             errc::server_failed},
        Said{"unknown_method", 404, R"({"error":"RepoNotFound"})", errc::server_failed},
        Said{"a_server_in_trouble", 500, R"({"error":"RepoNotFound"})", errc::server_failed},
        Said{"too_many_requests", 429, R"({"error":"RepoNotFound"})", errc::rate_limited},
        Said{"no_json", 200, "<html>", errc::document_json},
        Said{"nothing", 200, "", errc::document_json},
        Said{"a_list", 200, "[]", errc::document_json},
        Said{"another_account", 200, of_account(R"(,"active":false)", "did:plc:other"),
             errc::document_of_other},
        Said{"no_account", 200, R"({"active":false})", errc::document_of_other},
        Said{"an_account_that_is_no_text", 200, R"({"did":1,"active":false})",
             errc::document_of_other},
        Said{"neither_active_nor_not", 200, of_account(R"(,"status":"deleted")"),
             errc::document_json},
        Said{"active_that_is_no_boolean", 200, of_account(R"(,"active":"false")"),
             errc::document_json}),
    [](const auto& test) { return test.param.name; });

/// Asks a host that gives this answer.
Result<HostStatus> asked(const std::string& did, LoopbackServer::HttpScript script) {
  LoopbackServer::Options options;
  options.http = std::move(script);
  const LoopbackServer server(options);
  transport::HttpClientOptions lax;
  lax.allow_private_hosts = true;
  transport::HttpClient http(lax);
  const std::string pds = "http://127.0.0.1:" + std::to_string(server.port());
  return read_host_status(http.send(host_status_request(pds, did)), did);
}

TEST(HostStatusRequest, asks_the_accounts_host) {
  std::string target;
  const auto status = asked(kDid, [&](const LoopbackServer::HttpRequest& request) {
    target = std::string(request.target());
    return http_reply(200, of_account(R"(,"active":false,"status":"deactivated")"));
  });
  ASSERT_TRUE(status) << status.error().message();
  EXPECT_FALSE(status->active);
  EXPECT_EQ(status->status, "deactivated");
  EXPECT_EQ(target, "/xrpc/com.atproto.sync.getRepoStatus?did=" + kDid);
}

TEST(HostStatusRequest, a_percent_sign_of_a_did_means_itself) {
  const std::string did = "did:web:localhost%3A2583";
  std::string target;
  const auto status = asked(did, [&](const LoopbackServer::HttpRequest& request) {
    target = std::string(request.target());
    return http_reply(200, of_account(R"(,"active":true)", did));
  });
  ASSERT_TRUE(status) << status.error().message();
  EXPECT_TRUE(status->active);
  EXPECT_EQ(target, "/xrpc/com.atproto.sync.getRepoStatus?did=did:web:localhost%253A2583");
}

TEST(HostStatusRequest, a_host_that_knows_it_not_says_deleted) {
  const auto status = asked(kDid, [](const auto&) {
    return http_reply(400, R"({"error":"RepoNotFound","message":"Could not find repo"})");
  });
  ASSERT_TRUE(status) << status.error().message();
  EXPECT_FALSE(status->active);
  EXPECT_EQ(status->status, "deleted");
}

TEST(HostStatusRequest, a_host_in_trouble_says_nothing) {
  const auto failed = asked(kDid, [](const auto&) { return http_reply(502, "bad gateway"); });
  EXPECT_EQ(failed.error(), errc::server_failed);
  const auto dropped = asked(kDid, [](const auto&) { return std::string(); });
  EXPECT_EQ(dropped.error(), transport::errc::http_dropped);
  const auto huge = asked(kDid, [](const auto&) {
    return http_reply(200, of_account(R"(,"active":false)") + std::string(70'000, ' '));
  });
  EXPECT_EQ(huge.error(), transport::errc::http_too_large);
}

TEST(HostStatusRequest, nobody_is_asked_in_private_networks) {
  const LoopbackServer server(LoopbackServer::Options{});
  transport::HttpClient http({});
  const std::string pds = "http://localhost:" + std::to_string(server.port());
  EXPECT_TRUE(http.send(host_status_request(pds, kDid)).has_error());
  EXPECT_EQ(server.connections(), 0);
}

}  // namespace
}  // namespace skua::documents::host_status_test
