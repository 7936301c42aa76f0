#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "documents/did_document.hpp"
#include "documents/errc.hpp"
#include "documents/made_document.hpp"
#include "transport/errc.hpp"
#include "transport/loopback_server.hpp"

namespace skua::documents::document_request_test {
namespace {

using test::http_reply;
using test::LoopbackServer;
using test::made_document;

const std::string kDid = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

struct Url {
  const char* name;
  const char* did;
  const char* url;  // null: refused
  bool allow_private_hosts = false;
};

class DocumentUrl : public ::testing::TestWithParam<Url> {};

TEST_P(DocumentUrl, is_made_or_refused) {
  const DocumentOptions options{"https://plc.example/", GetParam().allow_private_hosts};
  const auto url = document_url(GetParam().did, options);
  if (GetParam().url == nullptr) {
    EXPECT_FALSE(url) << *url;
  } else {
    ASSERT_TRUE(url) << url.error().message();
    EXPECT_EQ(*url, GetParam().url);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, DocumentUrl,
    ::testing::Values(
        Url{"plc", "did:plc:ewvi7nxzyoun6zhxrhs64oiz",
            "https://plc.example/did:plc:ewvi7nxzyoun6zhxrhs64oiz"},
        Url{"plc_too_short", "did:plc:ewvi7nxzyoun6zhxrhs64oi", nullptr},
        Url{"plc_of_other_letters", "did:plc:ewvi7nxzyoun6zhxrhs64oi1", nullptr},
        Url{"plc_with_a_way_out", "did:plc:..%2f..%2fexport", nullptr},
        Url{"web", "did:web:pds.example", "https://pds.example/.well-known/did.json"},
        Url{"web_with_a_path", "did:web:pds.example:user", nullptr},
        Url{"web_with_a_port", "did:web:pds.example%3A8443", nullptr},
        Url{"web_with_an_escape", "did:web:pds%2eexample", nullptr},
        Url{"web_of_an_address", "did:web:127.0.0.1", nullptr},
        Url{"web_of_one_label", "did:web:intranet", nullptr},
        Url{"web_localhost", "did:web:localhost%3A2583", nullptr},
        Url{"web_localhost_allowed", "did:web:localhost%3A2583",
            "http://localhost:2583/.well-known/did.json", true},
        Url{"web_localhost_alone", "did:web:localhost", "http://localhost/.well-known/did.json",
            true},
        Url{"web_localhost_lower_case", "did:web:localhost%3a2583",
            "http://localhost:2583/.well-known/did.json", true},
        Url{"web_localhost_with_a_path", "did:web:localhost%3A2583:user", nullptr, true},
        Url{"web_localhost_without_digits", "did:web:localhost%3Aadmin", nullptr, true},
        Url{"key", "did:key:zQ3shunBKsXixLxKtC5qeSG9E4J5RkGN57im31pcTzbNQnm5w", nullptr},
        Url{"no_did", "alice.example", nullptr}, Url{"empty", "", nullptr}),
    [](const auto& test) { return test.param.name; });

TEST(FailureText, names_the_host_of_a_network_error_and_the_flag_of_a_directory) {
  const DocumentOptions options{"https://plc.example", false};
  const auto text = [&](const std::string& did, ErrorCode error) {
    return failure_text(did, error, options);
  };
  const std::string plc = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
  EXPECT_EQ(text(plc, transport::errc::connect_failed),
            "the PLC directory https://plc.example: the host cannot be reached; --plc URL names "
            "another directory");
  EXPECT_EQ(text(plc, errc::server_failed),
            "the PLC directory https://plc.example: the server answered with an error; --plc URL "
            "names another directory");
  EXPECT_EQ(text("did:web:pds.example", transport::errc::connect_timed_out),
            "pds.example: the host does not answer");
  EXPECT_EQ(text("did:web:pds.example", transport::errc::address_not_public),
            "pds.example: the host has only private addresses; --allow-private-hosts permits them");
  EXPECT_EQ(text("did:web:localhost%3A2583", transport::errc::address_not_public),
            "the host has only private addresses; --allow-private-hosts permits them");
  for (const auto error : {errc::did_not_found, errc::document_key, errc::busy, errc::stopped}) {
    EXPECT_EQ(text(plc, error), make_error_code(error).message());
  }
}

/// Requests the document of a DID.
Result<Account> fetched(transport::HttpClient& http, const std::string& did,
                        const DocumentOptions& options) {
  const auto request = document_request(did, options);
  if (!request) return request.error();
  return read_document(did, http.send(*request));
}

class DocumentRequest : public ::testing::Test {
 protected:
  /// Asks a directory that gives this answer.
  static Result<Account> asked(const std::string& did, LoopbackServer::HttpScript script) {
    LoopbackServer::Options options;
    options.http = std::move(script);
    const LoopbackServer server(options);
    transport::HttpClient http({});
    return fetched(http, did, {"http://127.0.0.1:" + std::to_string(server.port())});
  }

  static Result<Account> answered(const std::string& reply) {
    return asked(kDid, [&](const auto&) { return reply; });
  }
};

TEST_F(DocumentRequest, asks_the_directory) {
  std::string target;
  const auto answer = asked(kDid, [&](const LoopbackServer::HttpRequest& request) {
    target = std::string(request.target());
    return http_reply(200, made_document(kDid).dump());
  });
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->did, kDid);
  EXPECT_EQ(target, "/" + kDid);
}

TEST_F(DocumentRequest, tells_the_directorys_answers_apart) {
  const auto not_found = answered(http_reply(404, R"({"message":"DID not registered"})"));
  EXPECT_EQ(not_found.error(), errc::did_not_found);
  EXPECT_FALSE(is_server_failure(not_found.error()));
  const auto tombstoned = answered(http_reply(410, R"({"message":"DID not available"})"));
  EXPECT_EQ(tombstoned.error(), errc::did_tombstoned);
  EXPECT_FALSE(is_server_failure(tombstoned.error()));
  const auto failed = answered(http_reply(503, "down"));
  EXPECT_EQ(failed.error(), errc::server_failed);
  EXPECT_TRUE(is_server_failure(failed.error()));
  const auto limited = answered(http_reply(429, "", "Retry-After: 9\r\n"));
  EXPECT_EQ(limited.error(), errc::rate_limited);
  EXPECT_TRUE(is_server_failure(limited.error()));
}

TEST_F(DocumentRequest, refuses_a_document_that_is_anothers) {
  const auto answer =
      answered(http_reply(200, made_document("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa").dump()));
  EXPECT_EQ(answer.error(), errc::document_of_other);
  EXPECT_FALSE(is_server_failure(answer.error()));
  EXPECT_EQ(answered(http_reply(200, "<html>")).error(), errc::document_json);
  EXPECT_EQ(answered(http_reply(200, std::string(300'000, ' '))).error(),
            transport::errc::http_too_large);
}

TEST_F(DocumentRequest, says_that_a_directory_is_away) {
  const auto answer = answered("");
  EXPECT_EQ(answer.error(), transport::errc::http_dropped);
  EXPECT_TRUE(is_server_failure(answer.error()));
}

TEST_F(DocumentRequest, asks_the_host_of_a_did_web_but_no_private_one) {
  LoopbackServer::Options server_options;
  server_options.http = [](const LoopbackServer::HttpRequest& request) {
    const auto did = "did:web:localhost%3A" + std::string(request["Host"].substr(10));
    if (request.target() != "/.well-known/did.json") return http_reply(404, "");
    return http_reply(200, made_document(did).dump());
  };
  const LoopbackServer server(server_options);
  const auto did = "did:web:localhost%3A" + std::to_string(server.port());
  transport::HttpClientOptions http_options;
  http_options.lookup = [](const std::string&) -> Result<std::vector<std::string>> {
    return std::vector<std::string>{"127.0.0.1"};
  };
  {
    transport::HttpClient strict(http_options);
    const DocumentOptions options{"http://127.0.0.1:1", true};
    EXPECT_EQ(fetched(strict, did, options).error(), transport::errc::address_not_public);
    const auto named = fetched(strict, "did:web:pds.example", options).error();
    EXPECT_EQ(named, transport::errc::address_not_public);
    EXPECT_FALSE(is_server_failure(named));
  }
  EXPECT_EQ(server.connections(), 0);
  http_options.allow_private_hosts = true;
  transport::HttpClient lax(http_options);
  const auto answer = fetched(lax, did, {"http://127.0.0.1:1", true});
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->did, did);
}

constexpr const char* kDocumentPath = "/.well-known/did.json";
const std::string kWebDid = "did:web:web.test";

/// Hosts of did:web documents, all on one port of loopback, over TLS.
class WebDidTest : public ::testing::Test {
 protected:
  void SetUp() override {
    LoopbackServer::Options options;
    options.certificate = transport::make_throwaway_certificate({"web.test", "other.test"});
    options.http = [this](const LoopbackServer::HttpRequest& request) { return reply_(request); };
    ca_file_ = std::filesystem::temp_directory_path() /
               ("skua-web-did-test-" + std::to_string(::getpid()) + ".pem");
    std::ofstream(ca_file_) << options.certificate->ca_pem;
    server_ = std::make_unique<LoopbackServer>(options);
  }
  void TearDown() override { std::filesystem::remove(ca_file_); }

  Result<Account> resolved(const std::string& did, bool trusts = true) {
    transport::HttpClientOptions options;
    options.allow_private_hosts = true;
    if (trusts) options.ca_file = ca_file_.string();
    options.lookup = [](const std::string& /*host*/) -> Result<std::vector<std::string>> {
      return std::vector<std::string>{"127.0.0.1"};
    };
    transport::HttpClient http(options);
    return fetched(http, did, {.https_port = server_->port()});
  }
  /// Of the same reply to each request.
  Result<Account> answered(const std::string& reply) {
    reply_ = [reply](const auto&) { return reply; };
    return resolved(kWebDid);
  }
  std::string url(const std::string& host, const std::string& path) const {
    return "https://" + host + ":" + std::to_string(server_->port()) + path;
  }
  static std::string redirect(const std::string& target, int status = 302) {
    return http_reply(status, "", "Location: " + target + "\r\n");
  }

  std::function<std::string(const LoopbackServer::HttpRequest&)> reply_;
  std::filesystem::path ca_file_;
  std::unique_ptr<LoopbackServer> server_;
};

TEST_F(WebDidTest, a_document_is_read_over_tls) {
  std::string target;
  reply_ = [&](const LoopbackServer::HttpRequest& request) {
    target = std::string(request.target());
    return http_reply(200, made_document(kWebDid).dump());
  };
  const auto answer = resolved(kWebDid);
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->did, kWebDid);
  EXPECT_EQ(target, kDocumentPath);
}

TEST_F(WebDidTest, a_certificate_must_be_trusted_and_of_the_host) {
  reply_ = [](const auto&) { return http_reply(200, made_document(kWebDid).dump()); };
  EXPECT_EQ(resolved(kWebDid, false).error(), transport::errc::tls_untrusted);
  reply_ = [](const auto&) { return http_reply(200, made_document("did:web:third.test").dump()); };
  EXPECT_EQ(resolved("did:web:third.test").error(), transport::errc::tls_failed);
}

TEST_F(WebDidTest, redirects_are_followed_within_tls) {
  for (const int status : {301, 302, 303, 307, 308}) {
    reply_ = [&](const LoopbackServer::HttpRequest& request) {
      if (request.target() == kDocumentPath) return redirect(url("other.test", "/did"), status);
      if (request.target() == "/did") return redirect("did.json?v=2", status);
      if (request.target() == "/did.json?v=2") return redirect("/last", status);
      return http_reply(200, made_document(kWebDid).dump());
    };
    const auto answer = resolved(kWebDid);
    ASSERT_TRUE(answer) << status << answer.error().message();
  }
  reply_ = [&](const LoopbackServer::HttpRequest&) { return redirect(url("web.test", "/again")); };
  EXPECT_EQ(resolved(kWebDid).error(), transport::errc::http_too_many_redirects);
  EXPECT_EQ(answered(redirect("http://web.test/")).error(), transport::errc::http_downgrade);
  EXPECT_EQ(answered(redirect("file:///etc/passwd")).error(), transport::errc::http_bad_redirect);
  EXPECT_EQ(answered(redirect(url("third.test", "/"))).error(), transport::errc::tls_failed);
  EXPECT_EQ(answered(http_reply(302, "")).error(), errc::server_failed) << "without a target";
}

TEST_F(WebDidTest, what_counts_is_the_document_and_not_what_its_answer_says_of_it) {
  const std::string text = made_document(kWebDid).dump(2);
  for (const char* type :
       {"application/did+json", "application/did+ld+json; charset=utf-8", "text/plain",
        "text/html; charset=iso-8859-1", "application/octet-stream", "nonsense", ""}) {
    const auto headers = std::string("Content-Type: ") + type + "\r\n";
    EXPECT_TRUE(answered(http_reply(200, text, headers))) << type;
  }
  EXPECT_TRUE(answered(http_reply(200, text)));
  EXPECT_TRUE(answered(http_reply(200, "\xEF\xBB\xBF" + text + "\r\n")));
  EXPECT_EQ(answered(http_reply(200, "<!doctype html><title>web</title>",
                                "Content-Type: application/json\r\n"))
                .error(),
            errc::document_json);
  EXPECT_EQ(answered(http_reply(200, "")).error(), errc::document_json);
  EXPECT_EQ(answered(http_reply(204, "")).error(), errc::server_failed);
}

TEST_F(WebDidTest, the_document_of_another_did_is_refused) {
  for (const auto* did : {"did:web:other.test", "did:web:WEB.test", "did:web:web.test#atproto",
                          "did:web:web.test:user", "did:plc:ewvi7nxzyoun6zhxrhs64oiz", ""}) {
    EXPECT_EQ(answered(http_reply(200, made_document(did).dump())).error(), errc::document_of_other)
        << did;
  }
}

}  // namespace
}  // namespace skua::documents::document_request_test
