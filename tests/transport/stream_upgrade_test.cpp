#include <chrono>
#include <future>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/manual_clock.hpp"
#include "transport/http_client.hpp"
#include "transport/loopback_server.hpp"
#include "transport/recording_sink.hpp"
#include "transport/stream_client.hpp"

namespace skua::transport::stream_upgrade_test {
namespace {

using namespace std::chrono_literals;
using test::http_reply;
using test::LoopbackServer;
using test::Peer;
using test::RecordingSink;
using ::testing::EndsWith;
using ::testing::HasSubstr;

/// Options for a client of a server on this port: it does not come back.
StreamClientOptions options_for(std::uint16_t port) {
  StreamClientOptions options;
  options.endpoint = parse_endpoint("http://127.0.0.1:" + std::to_string(port), "/channel").value();
  options.reconnect = {1h, 1h, 1h};
  return options;
}

/// The first failure of a client with these options.
Disconnection first_failure(const StreamClientOptions& options) {
  RecordingSink sink;
  StreamClient client(options, sink);
  client.start();
  EXPECT_TRUE(sink.wait_for_disconnects(1));
  client.stop();
  EXPECT_TRUE(sink.connected().empty());
  return sink.disconnected().at(0);
}

TEST(BasicAuthorization, is_base64_of_user_and_password) {
  // RFC 7617, section 2.
  EXPECT_EQ(basic_authorization("Aladdin", "open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  EXPECT_EQ(basic_authorization("admin", ""), "Basic YWRtaW46");
  EXPECT_EQ(basic_authorization("admin", std::string(100, 'x')).size(), 6U + 144U);
}

TEST(StreamUpgrade, carries_target_headers_and_subprotocol) {
  struct Asked {
    std::string target, authorization, subprotocols, user_agent;
  };
  std::promise<Asked> asked;
  LoopbackServer::Options server_options;
  server_options.subprotocol = "xrpc.v1.json";
  server_options.script = [&](Peer& peer) {
    asked.set_value({peer.target, peer.authorization, peer.subprotocols, peer.user_agent});
    peer.wait_for_end();
  };
  LoopbackServer server(server_options);
  auto options = options_for(server.port());
  options.target = [] { return "/subscribe?wantedCollections=app.bsky.feed.post&cursor=5"; };
  options.headers = {{"Authorization", basic_authorization("admin", "secret")}};
  options.subprotocol = "xrpc.v1.json";
  options.user_agent = "somebody/1";
  RecordingSink sink;
  StreamClient client(options, sink);
  client.start();
  const auto got = asked.get_future().get();
  EXPECT_EQ(got.target, "/subscribe?wantedCollections=app.bsky.feed.post&cursor=5");
  EXPECT_EQ(got.authorization, "Basic YWRtaW46c2VjcmV0");
  EXPECT_EQ(got.subprotocols, "xrpc.v1.json");
  EXPECT_EQ(got.user_agent, "somebody/1");
  EXPECT_TRUE(sink.wait_for_connections(1));
}

TEST(StreamUpgrade, asks_for_no_subprotocol_unless_told) {
  std::promise<std::string> asked;
  LoopbackServer server([&](Peer& peer) {
    asked.set_value(peer.target + "|" + peer.subprotocols + "|" + peer.authorization);
    peer.wait_for_end();
  });
  RecordingSink sink;
  StreamClient client(options_for(server.port()), sink);
  client.start();
  EXPECT_EQ(asked.get_future().get(), "/channel||");
}

TEST(StreamUpgrade, refuses_another_subprotocol) {
  LoopbackServer::Options server_options;
  server_options.subprotocol = "xrpc.v1.cbor";
  LoopbackServer server(server_options);
  auto options = options_for(server.port());
  options.subprotocol = "xrpc.v1.json";
  EXPECT_THAT(first_failure(options).reason, HasSubstr("asked for (xrpc.v1.json)"));
}

TEST(StreamUpgrade, believes_a_server_that_says_nothing_of_subprotocols) {
  LoopbackServer server(LoopbackServer::Options{});
  auto options = options_for(server.port());
  options.subprotocol = "xrpc.v1.json";
  RecordingSink sink;
  StreamClient client(options, sink);
  client.start();
  EXPECT_TRUE(sink.wait_for_connections(1));
}

class StreamHeader : public ::testing::TestWithParam<HttpHeader> {};

TEST_P(StreamHeader, that_breaks_the_request_is_refused) {
  auto options = options_for(1);
  options.headers = {GetParam()};
  RecordingSink sink;
  EXPECT_THROW(StreamClient(options, sink), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Table, StreamHeader,
                         ::testing::Values(HttpHeader{"", "x"}, HttpHeader{"X", "a\r\nY: b"},
                                           HttpHeader{"X", "a\n"}, HttpHeader{"X\r", "a"},
                                           HttpHeader{"X", std::string("a\0b", 3)}));

struct Refusal {
  const char* name;
  int status;
  std::string body;
  /// What the reason has after the path.
  std::string words;
  std::string error;
};

class StreamRefused : public ::testing::TestWithParam<Refusal> {};

TEST_P(StreamRefused, says_why) {
  const auto& refusal = GetParam();
  LoopbackServer::Options server_options;
  server_options.http = [&](const LoopbackServer::HttpRequest&) {
    return http_reply(refusal.status, refusal.body);
  };
  LoopbackServer server(server_options);
  auto options = options_for(server.port());
  options.target = [] { return "/channel?cursor=1"; };
  const auto failure = first_failure(options);
  EXPECT_EQ(failure.http_status, static_cast<unsigned>(refusal.status));
  EXPECT_EQ(failure.http_error, refusal.error);
  EXPECT_THAT(failure.reason, EndsWith(" at /channel" + refusal.words));
  EXPECT_THAT(failure.reason, HasSubstr("answered " + std::to_string(refusal.status) + " "));
}

INSTANTIATE_TEST_SUITE_P(
    Table, StreamRefused,
    ::testing::Values(
        Refusal{"cursor_too_old", 400,
                R"({"error":"CursorTooOld","message":"the oldest is 1779719009132431"})",
                ": CursorTooOld: the oldest is 1779719009132431", "CursorTooOld"},
        Refusal{"error_only", 400, R"({"error":"UnknownZstdDictionary"})",
                ": UnknownZstdDictionary", "UnknownZstdDictionary"},
        Refusal{"password", 401, R"({"message":"Unauthorized"})", " (is the password right?)", ""},
        Refusal{"password_in_text", 401, "wrong password\n",
                ": wrong password (is the password right?)", ""},
        Refusal{"nothing", 404, "", "", ""}, Refusal{"page", 502, "<html>bad</html>", "", ""},
        Refusal{"not_text", 400, "\xff\xfe", "", ""},
        Refusal{"other_types", 400, R"({"error":5,"message":["x"]})", "", ""},
        Refusal{"array", 400, "[1]", ": [1]", ""},
        Refusal{"deep", 400, std::string(5000, '['), ": " + std::string(200, '['), ""},
        Refusal{"control_characters", 400, "{\"error\":\"a\\u001b[31m\\nb\"}", ": a [31m b",
                "a [31m b"},
        Refusal{"long_text", 400, std::string(199, 'x') + "\xc3\xa4", ": " + std::string(199, 'x'),
                ""},
        Refusal{"longer_than_any_explanation", 400, std::string(20'000, 'x'), "", ""}),
    [](const auto& test) { return test.param.name; });

struct AskedWait {
  const char* name;
  int status;
  std::string headers;
  std::chrono::milliseconds wait;
};

class StreamAskedToWait : public ::testing::TestWithParam<AskedWait> {};

TEST_P(StreamAskedToWait, waits_as_long_but_not_longer_than_the_limit) {
  const auto& asked = GetParam();
  LoopbackServer::Options server_options;
  server_options.http = [&](const LoopbackServer::HttpRequest&) {
    return http_reply(asked.status, "", asked.headers);
  };
  LoopbackServer server(server_options);
  test::ManualClock clock;
  auto options = options_for(server.port());
  options.clock = &clock;
  options.longest_asked_wait = 100s;
  options.reconnect.first = 8s;
  options.random = [] { return 0.5; };
  // Its own wait of 4 s is added, so that clients do not all return at once.
  EXPECT_EQ(first_failure(options).next_attempt_in, asked.wait + 4s);
}

INSTANTIATE_TEST_SUITE_P(
    Table, StreamAskedToWait,
    ::testing::Values(
        AskedWait{"seconds", 429, "Retry-After: 30\r\n", 30s},
        AskedWait{"unavailable", 503, "Retry-After: 7\r\n", 7s},
        AskedWait{"date", 503, "Retry-After: Fri, 02 Jan 2026 00:01:00 GMT\r\n", 60s},
        AskedWait{"past_date", 503, "Retry-After: Thu, 01 Jan 2026 23:00:00 GMT\r\n", 0s},
        AskedWait{"rate_limit", 429, "RateLimit-Remaining: 0\r\nRateLimit-Reset: 1767312023\r\n",
                  23s},
        AskedWait{"too_long", 429, "Retry-After: 864000\r\n", 100s},
        AskedWait{"beyond_all_numbers", 429, "Retry-After: 99999999999999999\r\n", 100s},
        AskedWait{"negative", 429, "Retry-After: -5\r\n", 0s},
        AskedWait{"words", 429, "Retry-After: soon\r\n", 0s}, AskedWait{"not_asked", 429, "", 0s},
        AskedWait{"another_status", 404, "Retry-After: 30\r\n", 0s}),
    [](const auto& test) { return test.param.name; });

struct Redirect {
  const char* name;
  int status;
  std::string headers;
  std::string words;
};

class StreamRedirected : public ::testing::TestWithParam<Redirect> {};

TEST_P(StreamRedirected, names_the_target_and_does_not_follow_it) {
  const auto& redirect = GetParam();
  LoopbackServer::Options server_options;
  server_options.http = [&](const LoopbackServer::HttpRequest&) {
    return http_reply(redirect.status, "<html>moved</html>", redirect.headers);
  };
  LoopbackServer server(server_options);
  const auto failure = first_failure(options_for(server.port()));
  EXPECT_EQ(failure.http_status, static_cast<unsigned>(redirect.status));
  EXPECT_THAT(failure.reason, EndsWith(" at /channel" + redirect.words));
  EXPECT_EQ(server.connections(), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Table, StreamRedirected,
    ::testing::Values(
        Redirect{"moved", 301, "Location: wss://relay.example/x\r\n",
                 "; it redirects to wss://relay.example/x, and redirects are not followed"},
        Redirect{"temporary", 307, "Location: /other\r\n",
                 "; it redirects to /other, and redirects are not followed"},
        Redirect{"hostile", 302, "Location: http://a\xe2\x80\xae\r\n",
                 "; it redirects to http://a?, and redirects are not followed"},
        Redirect{
            "long", 302, "Location: /" + std::string(1000, 'x') + "\r\n",
            "; it redirects to /" + std::string(299, 'x') + ", and redirects are not followed"},
        Redirect{"nowhere", 302, "", ""}, Redirect{"no_redirect", 404, "Location: /x\r\n", ""}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace skua::transport::stream_upgrade_test
