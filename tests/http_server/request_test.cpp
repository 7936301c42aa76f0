#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "http_server/exchange.hpp"

namespace skua::http_server::request_test {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

TEST(TargetTest, a_path_without_a_query) {
  const auto target = parse_target("/changes");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/changes");
  EXPECT_TRUE(target->query.empty());
}

TEST(TargetTest, repeated_names_keep_their_order_and_escapes_are_decoded) {
  const auto target = parse_target("/a%2Fb?did=did%3Aplc%3Aa&did=b+c&x&=y&&z=1=2");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/a/b");
  EXPECT_EQ(target->query,
            (Query{{"did", "did:plc:a"}, {"did", "b c"}, {"x", ""}, {"", "y"}, {"z", "1=2"}}));
}

TEST(TargetTest, malformed_targets_are_refused) {
  for (const char* target : {"", "changes", "http://host/changes", "/a?b=%", "/a?b=%4", "/a?b=%zz",
                             "/%00", "/a?b=%0A", "/a\x7f"}) {
    EXPECT_FALSE(parse_target(target)) << target;
  }
}

TEST(RequestTest, parameters_by_name) {
  Request request;
  request.target = *parse_target("/?did=a&cursor=1&did=b");
  EXPECT_EQ(parameter(request, "did"), "a");
  EXPECT_EQ(parameter(request, "none"), std::nullopt);
  EXPECT_EQ(parameters(request, "did"), (std::vector<std::string>{"a", "b"}));
}

TEST(RequestTest, which_accept_headers_permit_events) {
  for (const char* accept : {"", " ", "*/*", "text/*", "Text/Event-Stream",
                             "application/json, text/event-stream;q=0.5"}) {
    EXPECT_TRUE(accepts_event_stream(accept)) << accept;
  }
  for (const char* accept : {"application/json", "text/html", "text/event-streams", ","}) {
    EXPECT_FALSE(accepts_event_stream(accept)) << accept;
  }
}

TEST(RequestTest, which_content_types_are_json) {
  for (const char* type : {"application/json", "Application/JSON", " application/json ",
                           "application/json; charset=utf-8", "application/json;charset=utf-8"}) {
    EXPECT_TRUE(is_json_type(type)) << type;
  }
  for (const char* type : {"", "text/plain", "text/plain; application/json", "application/jsonp",
                           "application/json, text/plain", "application/x-www-form-urlencoded"}) {
    EXPECT_FALSE(is_json_type(type)) << type;
  }
}

TEST(RequestTest, another_origin_has_another_authority) {
  Request request;
  request.host = "127.0.0.1:2470";
  EXPECT_FALSE(is_cross_origin(request)) << "not a web page";
  request.origin = "http://127.0.0.1:2470";
  EXPECT_FALSE(is_cross_origin(request));
  for (const char* origin : {"https://evil.test", "http://127.0.0.1", "null"}) {
    request.origin = origin;
    EXPECT_TRUE(is_cross_origin(request)) << origin;
  }
}

TEST(RequestTest, which_hosts_are_known) {
  const std::vector<std::string> names = {"skua.example.com"};
  for (const char* host :
       {"", "localhost", "LocalHost:2580", "127.0.0.1", "127.0.0.1:2580", "[::1]", "[::1]:2580",
        "192.0.2.7:80", "skua.example.com", "Skua.Example.Com:443"}) {
    EXPECT_TRUE(is_known_host(host, names)) << host;
  }
  for (const char* host :
       {"evil.test", "evil.test:2580", "localhost.evil.test", "evil.localhost", "localhost.",
        "127.0.0.1.evil.test", "skua.example.com.evil.test", "example.com", "[evil.test]", "[",
        "[]", ":2580", "127.0.0.1@evil.test", "::1:evil", "localhost:2580:evil.test"}) {
    EXPECT_FALSE(is_known_host(host, names)) << host;
  }
  EXPECT_FALSE(is_known_host("skua.example.com", {}));
}

}  // namespace
}  // namespace skua::http_server::request_test
