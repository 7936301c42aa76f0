#include "transport/endpoint.hpp"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "transport/errc.hpp"

namespace skua::transport::endpoint_test {
namespace {

const std::string kPath = "/xrpc/com.atproto.sync.subscribeRepos";

struct Good {
  const char* name;
  const char* input;
  bool tls;
  const char* host;
  std::uint16_t port;
  std::string path;
  std::string query;
  std::string url;
};

class GoodEndpoint : public ::testing::TestWithParam<Good> {};

TEST_P(GoodEndpoint, parses) {
  const auto& good = GetParam();
  const auto endpoint = parse_endpoint(good.input);
  ASSERT_TRUE(endpoint) << endpoint.error().message();
  EXPECT_EQ(endpoint->tls, good.tls);
  EXPECT_EQ(endpoint->host, good.host);
  EXPECT_EQ(endpoint->port, good.port);
  EXPECT_EQ(endpoint->path, good.path);
  EXPECT_EQ(endpoint->query, good.query);
  EXPECT_EQ(endpoint->url(), good.url);

  const auto again = parse_endpoint(endpoint->url());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->url(), endpoint->url());
}

INSTANTIATE_TEST_SUITE_P(
    Table, GoodEndpoint,
    ::testing::Values(Good{"bare_host", "relay.example", true, "relay.example", 443, kPath, "",
                           "wss://relay.example" + kPath},
                      Good{"bare_host_and_port", "localhost:2470", true, "localhost", 2470, kPath,
                           "", "wss://localhost:2470" + kPath},
                      Good{"wss", "wss://relay.example", true, "relay.example", 443, kPath, "",
                           "wss://relay.example" + kPath},
                      Good{"wss_slash", "wss://relay.example/", true, "relay.example", 443, kPath,
                           "", "wss://relay.example" + kPath},
                      Good{"wss_own_port", "wss://relay.example:443", true, "relay.example", 443,
                           kPath, "", "wss://relay.example" + kPath},
                      Good{"wss_port_80", "wss://relay.example:80", true, "relay.example", 80,
                           kPath, "", "wss://relay.example:80" + kPath},
                      Good{"ws", "ws://127.0.0.1:8080", false, "127.0.0.1", 8080, kPath, "",
                           "ws://127.0.0.1:8080" + kPath},
                      Good{"http", "http://pds.example", false, "pds.example", 80, kPath, "",
                           "ws://pds.example" + kPath},
                      Good{"https", "https://pds.example/", true, "pds.example", 443, kPath, "",
                           "wss://pds.example" + kPath},
                      Good{"capitals", "WSS://Relay.EXAMPLE/Path", true, "relay.example", 443,
                           "/Path", "", "wss://relay.example/Path"},
                      Good{"full_path", "wss://relay.example/xrpc/com.atproto.sync.subscribeRepos",
                           true, "relay.example", 443, kPath, "", "wss://relay.example" + kPath},
                      Good{"other_path", "ws://localhost:9/labels", false, "localhost", 9,
                           "/labels", "", "ws://localhost:9/labels"},
                      Good{"query", "relay.example?key=1", true, "relay.example", 443, kPath,
                           "key=1", "wss://relay.example" + kPath + "?key=1"},
                      Good{"bare_ipv4", "127.0.0.1:2470", true, "127.0.0.1", 2470, kPath, "",
                           "wss://127.0.0.1:2470" + kPath},
                      Good{"word_with_scheme", "ws://relay:2470", false, "relay", 2470, kPath, "",
                           "ws://relay:2470" + kPath},
                      Good{"ipv6", "ws://[::1]:2470", false, "::1", 2470, kPath, "",
                           "ws://[::1]:2470" + kPath},
                      Good{"ipv6_capitals", "[2001:DB8::1]", true, "2001:db8::1", 443, kPath, "",
                           "wss://[2001:db8::1]" + kPath},
                      Good{"blanks_around", "  relay.example\n", true, "relay.example", 443, kPath,
                           "", "wss://relay.example" + kPath},
                      Good{"last_dot", "relay.example.", true, "relay.example.", 443, kPath, "",
                           "wss://relay.example." + kPath},
                      Good{"underscore", "ws://my_relay:1", false, "my_relay", 1, kPath, "",
                           "ws://my_relay:1" + kPath}),
    [](const auto& test) { return test.param.name; });

struct Bad {
  const char* name;
  std::string input;
  errc error;
};

class BadEndpoint : public ::testing::TestWithParam<Bad> {};

TEST_P(BadEndpoint, is_refused_for_its_reason) {
  const auto endpoint = parse_endpoint(GetParam().input);
  ASSERT_FALSE(endpoint) << endpoint->url();
  EXPECT_EQ(endpoint.error(), GetParam().error) << endpoint.error().message();
  EXPECT_GT(endpoint.error().message().size(), 20U);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadEndpoint,
    ::testing::Values(
        Bad{"empty", "", errc::url_empty}, Bad{"blank", " \t", errc::url_empty},
        Bad{"ftp", "ftp://relay.example", errc::url_scheme},
        Bad{"no_scheme", "://relay.example", errc::url_scheme},
        Bad{"only_scheme", "wss://", errc::url_host}, Bad{"only_path", "/xrpc/x", errc::url_host},
        Bad{"no_host", "wss://:443", errc::url_host},
        Bad{"empty_label", "wss://relay..example", errc::url_host},
        Bad{"first_dot", "wss://.relay.example", errc::url_host},
        Bad{"blank_in_host", "wss://relay example", errc::url_host},
        Bad{"not_ascii", "wss://rel\xc3\xa4y.example", errc::url_host},
        Bad{"long_host", "wss://" + std::string(254, 'a'), errc::url_host},
        Bad{"open_bracket", "ws://[::1", errc::url_host},
        Bad{"empty_brackets", "ws://[]", errc::url_host},
        Bad{"name_in_brackets", "ws://[relay]", errc::url_host},
        Bad{"after_bracket", "ws://[::1]9", errc::url_host},
        Bad{"ipv6_without_brackets", "ws://::1", errc::url_host},
        Bad{"word", "notaurl", errc::url_word}, Bad{"word_and_port", "relay:2470", errc::url_word},
        Bad{"word_and_path", "relay/subscribe", errc::url_word},
        Bad{"three_numbers", "127.0.1", errc::url_host},
        Bad{"large_number", "ws://999.0.0.1", errc::url_host},
        Bad{"one_number", "ws://2470", errc::url_host},
        Bad{"ipv6_with_too_much", "ws://[1:2:3:4:5:6:7:8:9]", errc::url_host},
        Bad{"ipv6_of_colons", "ws://[:::]", errc::url_host},
        Bad{"long_label", "ws://" + std::string(64, 'a') + ".example", errc::url_host},
        Bad{"empty_port", "relay.example:", errc::url_port},
        Bad{"port_0", "relay.example:0", errc::url_port},
        Bad{"port_too_big", "relay.example:65536", errc::url_port},
        Bad{"port_text", "relay.example:https", errc::url_port},
        Bad{"port_sign", "relay.example:+1", errc::url_port},
        Bad{"port_ipv6", "ws://[::1]:x", errc::url_port},
        Bad{"user", "wss://me:secret@relay.example", errc::url_credentials},
        Bad{"fragment", "wss://relay.example/#top", errc::url_path},
        Bad{"blank_in_path", "wss://relay.example/a b", errc::url_path},
        Bad{"newline", "wss://relay.example/a\r\nHost: x", errc::url_path},
        Bad{"cursor", "wss://relay.example/?cursor=5", errc::url_cursor},
        Bad{"second_cursor", "relay.example?a=1&cursor=5", errc::url_cursor}),
    [](const auto& test) { return test.param.name; });

TEST(HttpUrl, is_read_as_it_stands) {
  const auto url = parse_http_url("HTTP://PDS.example:2583?cursor=7#part");
  ASSERT_TRUE(url) << url.error().message();
  EXPECT_FALSE(url->tls);
  EXPECT_EQ(url->http_url(), "http://pds.example:2583/?cursor=7");
  EXPECT_EQ(parse_http_url("https://[::1]:443/did.json")->http_url(), "https://[::1]/did.json");
  EXPECT_EQ(parse_http_url("wss://pds.example").error(), errc::url_http_scheme);
  EXPECT_EQ(parse_http_url("pds.example").error(), errc::url_http_scheme);
  EXPECT_EQ(parse_http_url("https://").error(), errc::url_host);
  EXPECT_EQ(parse_http_url("https://a@pds.example").error(), errc::url_credentials);
  EXPECT_EQ(parse_http_url(" ").error(), errc::url_empty);
}

TEST(Endpoint, puts_the_cursor_into_the_target) {
  EXPECT_EQ(parse_endpoint("relay.example")->target(std::nullopt), kPath);
  EXPECT_EQ(parse_endpoint("relay.example")->target(0), kPath + "?cursor=0");
  EXPECT_EQ(parse_endpoint("relay.example/p?a=1")->target(9007199254740991),
            "/p?a=1&cursor=9007199254740991");
}

}  // namespace
}  // namespace skua::transport::endpoint_test
