#include "documents/handle_check.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "documents/dns_server.hpp"
#include "documents/errc.hpp"
#include "transport/errc.hpp"
#include "transport/loopback_server.hpp"

namespace skua::documents::handle_check_test {
namespace {

using test::http_reply;
using test::LoopbackServer;

const std::string kDid = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
const std::string kOther = "did:web:other.test";

/// DNS and the handle's host, both on loopback.
class HandleCheckTest : public ::testing::Test {
 protected:
  void SetUp() override {
    LoopbackServer::Options options;
    options.certificate =
        transport::make_throwaway_certificate({"host.test", "unrelated.test", "failing.test"});
    options.http = [this](const LoopbackServer::HttpRequest& request) {
      if (request.target() == "/elsewhere") return http_reply(200, kDid);
      if (request.target() != "/.well-known/atproto-did") return http_reply(404, "");
      return reply_;
    };
    ca_file_ = std::filesystem::temp_directory_path() /
               ("skua-handle-test-" + std::to_string(::getpid()) + ".pem");
    std::ofstream(ca_file_) << options.certificate->ca_pem;
    server_ = std::make_unique<LoopbackServer>(options);
  }

  void TearDown() override { std::filesystem::remove(ca_file_); }

  template <class F>
  auto with_check(F&& f) {
    transport::HttpClientOptions options;
    options.allow_private_hosts = allow_private_hosts_;
    options.ca_file = ca_file_.string();
    options.lookup = [](const std::string& host) -> Result<std::vector<std::string>> {
      if (host == "nohost.test") return transport::errc::host_not_found;
      return std::vector<std::string>{"127.0.0.1"};
    };
    transport::HttpClient http(options);
    const HandleCheck check(http, dns_txt_lookup({"127.0.0.1", dns_.port()}), server_->port());
    return f(check);
  }

  /// The DID of a handle, or the message of the error.
  std::string found(const std::string& handle) {
    const auto did = with_check([&](const HandleCheck& check) { return check.resolve(handle); });
    return did ? *did : did.error().message();
  }

  static std::string words(errc error) { return make_error_code(error).message(); }

  test::DnsServer dns_{{
      {"_atproto.dns.test", {{"something else"}, {"did=" + kDid}}},
      {"_atproto.parts.test", {{"did=did:plc:ewvi7", "nxzyoun6zhx", "rhs64oiz"}}},
      {"_atproto.twice.test", {{"did=" + kDid}, {"did=" + kDid}}},
      {"_atproto.torn.test", {{"did=" + kDid}, {"did=" + kOther}}},
      {"_atproto.nonsense.test", {{"did=nobody"}}},
      {"_atproto.many.test",
       {{"v=spf1 -all"},
        {"DID=" + kOther},
        {" did=" + kOther},
        {"did", "=" + kDid},
        {"did:" + kOther}}},
      {"_atproto.mixed.test", {{"did="}, {"did=nobody"}, {"did=" + kDid}, {"did= " + kOther}}},
      {"_atproto.tornparts.test", {{"did=" + kDid}, {"did=did:web", ":other.test"}, {"did="}}},
      {"_atproto.large.test",
       {{"did=" + kDid}, {std::string(250, 'x'), std::string(250, 'x')}, {std::string(250, 'y')}}},
      {"_atproto.largetorn.test",
       {{"did=" + kDid}, {std::string(250, 'x'), std::string(250, 'x')}, {"did=" + kOther}}},
      {"_atproto.unrelated.test", {{"v=spf1 -all"}}},
      {"_atproto.failing.test", {}},
  }};
  std::string reply_ = http_reply(404, "");
  bool allow_private_hosts_ = true;
  std::filesystem::path ca_file_;
  std::unique_ptr<LoopbackServer> server_;
};

TEST_F(HandleCheckTest, asks_dns_first) {
  EXPECT_EQ(found("dns.test"), kDid);
  EXPECT_EQ(found("DNS.Test"), kDid);
  EXPECT_EQ(found("parts.test"), kDid);
  EXPECT_EQ(found("twice.test"), kDid);
  EXPECT_EQ(dns_.questions(), 4);
  EXPECT_EQ(found("many.test"), kDid);
  EXPECT_EQ(found("mixed.test"), kDid) << "only valid records count";
  EXPECT_EQ(dns_.questions(), 6);
  EXPECT_EQ(found("large.test"), kDid) << "an answer that was truncated, over TCP";
  EXPECT_EQ(dns_.questions(), 8);
  EXPECT_EQ(server_->connections(), 0);
}

TEST_F(HandleCheckTest, believes_no_contradiction_and_no_nonsense) {
  reply_ = http_reply(200, kDid);
  EXPECT_EQ(found("torn.test"), words(errc::handle_ambiguous));
  EXPECT_EQ(found("tornparts.test"), words(errc::handle_ambiguous));
  EXPECT_EQ(found("largetorn.test"), words(errc::handle_ambiguous)) << "the second is in TCP only";
  EXPECT_EQ(found("nonsense.test"), words(errc::handle_ambiguous));
  EXPECT_EQ(server_->connections(), 0);
}

TEST_F(HandleCheckTest, asks_the_host_when_dns_has_nothing) {
  reply_ = http_reply(200, " " + kDid + "\n");
  EXPECT_EQ(found("host.test"), kDid);
  EXPECT_EQ(found("unrelated.test"), kDid);
  EXPECT_EQ(found("failing.test"), kDid);
  EXPECT_EQ(server_->connections(), 3);
}

TEST_F(HandleCheckTest, says_what_it_did_not_find) {
  EXPECT_EQ(found("host.test"), words(errc::handle_not_found));
  EXPECT_EQ(found("nohost.test"), words(errc::handle_not_found));
  EXPECT_EQ(found("failing.test"), words(errc::dns_failed));
  reply_ = http_reply(200, "<html>hello</html>");
  EXPECT_EQ(found("host.test"), words(errc::handle_not_found));
  reply_ = http_reply(503, "");
  EXPECT_EQ(found("host.test"), words(errc::server_failed));
  EXPECT_EQ(found("failing.test"), words(errc::dns_failed)) << "DNS is what should have answered";
}

TEST_F(HandleCheckTest, takes_the_text_of_the_host_without_what_surrounds_it) {
  const std::string mark = "\xEF\xBB\xBF";
  for (const std::string& body :
       {kDid, kDid + "\n", "\r\n\t " + kDid + " \r\n\r\n", mark + kDid, mark + "\n" + kDid + "\n",
        std::string(1'000, ' ') + kDid + std::string(1'000, '\n')}) {
    for (const char* type : {"", "Content-Type: text/plain\r\n", "Content-Type: text/html\r\n"}) {
      reply_ = http_reply(200, body, type);
      EXPECT_EQ(found("host.test"), kDid) << body << type;
    }
  }
}

TEST_F(HandleCheckTest, a_page_or_a_text_of_something_else_says_nothing) {
  for (const std::string& body :
       {std::string(), std::string("\n"), "<!doctype html><html>" + kDid + "</html>", "did=" + kDid,
        "\"" + kDid + "\"", kDid + "\n" + kOther, kDid + " " + kDid, kDid + "#a",
        kDid + std::string("\0", 1), "at://" + kDid, std::string("did:plc"),
        "did:web:" + std::string(2'048, 'a'), "<html>" + std::string(100'000, 'x') + "</html>"}) {
    reply_ = http_reply(200, body);
    EXPECT_EQ(found("host.test"), words(errc::handle_not_found)) << body.substr(0, 100);
    EXPECT_EQ(found("failing.test"), words(errc::dns_failed)) << "DNS may name a DID";
  }
  reply_ = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2710\r\n" +
           std::string(10'000, 'x') + "\r\n0\r\n\r\n";
  EXPECT_EQ(found("host.test"), words(errc::handle_not_found)) << "without a length in its head";
}

TEST_F(HandleCheckTest, follows_redirects_of_the_host) {
  const auto redirect = [](const std::string& target) {
    return http_reply(301, "", "Location: " + target + "\r\n");
  };
  const auto words_of = [](transport::errc error) { return make_error_code(error).message(); };
  const std::string port = std::to_string(server_->port());
  reply_ = redirect("/elsewhere");
  EXPECT_EQ(found("host.test"), kDid);
  reply_ = redirect("https://unrelated.test:" + port + "/elsewhere");
  EXPECT_EQ(found("host.test"), kDid);
  reply_ = redirect("https://unrelated.test:" + port + "/nothing");
  EXPECT_EQ(found("host.test"), words(errc::handle_not_found));
  reply_ = redirect("/.well-known/atproto-did");
  EXPECT_EQ(found("host.test"), words_of(transport::errc::http_too_many_redirects));
  EXPECT_EQ(found("failing.test"), words(errc::dns_failed)) << "DNS may name a DID";
  reply_ = redirect("http://host.test/elsewhere");
  EXPECT_EQ(found("host.test"), words_of(transport::errc::http_downgrade));
}

TEST_F(HandleCheckTest, asks_no_private_host) {
  reply_ = http_reply(200, kDid);
  allow_private_hosts_ = false;
  EXPECT_EQ(found("host.test"), make_error_code(transport::errc::address_not_public).message());
  EXPECT_EQ(server_->connections(), 0);
}

TEST_F(HandleCheckTest, asks_nobody_about_what_is_no_handle) {
  for (const auto* handle : {"", "alice", "127.0.0.1", "printer.local", "a.b.internal",
                             "hidden.onion", "x.arpa", "x.Localhost"}) {
    EXPECT_EQ(found(handle), words(errc::handle_syntax)) << handle;
  }
  EXPECT_EQ(dns_.questions(), 0);
  EXPECT_EQ(server_->connections(), 0);
}

TEST_F(HandleCheckTest, goes_both_ways) {
  const auto verified = [&](const std::string& did, const std::string& handle) {
    return with_check([&](const HandleCheck& check) { return check.verify(did, handle); });
  };
  EXPECT_TRUE(verified(kDid, "dns.test"));
  EXPECT_EQ(verified("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", "dns.test").error(),
            errc::handle_of_other);
  EXPECT_EQ(verified(kDid, "").error(), errc::handle_syntax);
  EXPECT_EQ(verified(kDid, "host.test").error(), errc::handle_not_found);
}

}  // namespace
}  // namespace skua::documents::handle_check_test
