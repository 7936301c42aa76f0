#include "http_server/client_address.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace skua::http_server::client_address_test {
namespace {

std::vector<AddressRange> ranges(std::initializer_list<std::string_view> texts) {
  std::vector<AddressRange> all;
  for (const std::string_view text : texts) all.push_back(AddressRange::parse(text).value());
  return all;
}

TEST(AddressRangeTest, an_address_or_a_prefix) {
  const auto contains = [](std::string_view range, std::string_view address) {
    return AddressRange::parse(range).value().contains(address);
  };
  EXPECT_TRUE(contains("192.0.2.1", "192.0.2.1"));
  EXPECT_TRUE(contains("192.0.2.1", "::ffff:192.0.2.1"));
  EXPECT_FALSE(contains("192.0.2.1", "192.0.2.2"));
  EXPECT_TRUE(contains("10.9.9.9/8", "10.255.0.1"));
  EXPECT_FALSE(contains("10.0.0.0/8", "11.0.0.1"));
  EXPECT_TRUE(contains("192.0.2.128/25", "192.0.2.129"));
  EXPECT_FALSE(contains("192.0.2.128/25", "192.0.2.127"));
  EXPECT_TRUE(contains("2001:db8::/33", "2001:db8:7fff::1"));
  EXPECT_FALSE(contains("2001:db8::/33", "2001:db8:8000::1"));
  EXPECT_TRUE(contains("0.0.0.0/0", "203.0.113.9"));
  EXPECT_FALSE(contains("0.0.0.0/0", "2001:db8::1"));
  EXPECT_TRUE(contains("::/0", "203.0.113.9"));
  EXPECT_FALSE(contains("::/0", "no address"));
}

TEST(AddressRangeTest, other_texts_are_no_ranges) {
  for (const char* text : {"", "/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x",
                           "::/129", "10.0.0", "localhost", "fe80::1%lo", "192.0.2.1:80"}) {
    EXPECT_FALSE(AddressRange::parse(text)) << text;
  }
}

TEST(ClientAddressTest, only_a_proxy_can_name_its_client) {
  const auto proxies = ranges({"127.0.0.1", "10.0.0.0/8"});
  EXPECT_EQ(client_address("192.0.2.1", "192.0.2.9", proxies), "192.0.2.1");
  EXPECT_EQ(client_address("192.0.2.1", "192.0.2.9", {}), "192.0.2.1");
  EXPECT_EQ(client_address("127.0.0.1", "192.0.2.9", proxies), "192.0.2.9");
  EXPECT_EQ(client_address("::ffff:127.0.0.1", "192.0.2.9", proxies), "192.0.2.9");
  EXPECT_EQ(client_address("127.0.0.1", "", proxies), "127.0.0.1");
}

TEST(ClientAddressTest, the_last_address_that_is_no_proxy) {
  const auto proxies = ranges({"127.0.0.1", "10.0.0.0/8"});
  const auto client = [&](std::string_view forwarded) {
    return client_address("127.0.0.1", forwarded, proxies);
  };
  EXPECT_EQ(client("203.0.113.1, 192.0.2.9"), "192.0.2.9") << "the client wrote the first one";
  EXPECT_EQ(client("203.0.113.1,192.0.2.9 ,\t10.1.1.1, 10.2.2.2"), "192.0.2.9");
  EXPECT_EQ(client("10.1.1.1, 10.2.2.2"), "10.1.1.1");
  EXPECT_EQ(client("2001:DB8::9"), "2001:db8::9");
  EXPECT_EQ(client("[2001:db8::9]:4711"), "2001:db8::9");
  EXPECT_EQ(client("[2001:db8::9]"), "2001:db8::9");
  EXPECT_EQ(client("192.0.2.9:4711"), "192.0.2.9");
  EXPECT_EQ(client("::ffff:192.0.2.9"), "192.0.2.9");
}

TEST(ClientAddressTest, malformed_and_long_headers) {
  const auto proxies = ranges({"127.0.0.1", "10.0.0.0/8"});
  const auto client = [&](std::string_view forwarded) {
    return client_address("127.0.0.1", forwarded, proxies);
  };
  for (const std::string_view text : {"unknown", ",", " ", "192.0.2.9,", "192.0.2.9, x", "[", "[]",
                                      "]", "[192.0.2.9", ":", "fe80::1%lo", "192.0.2.9/32"}) {
    EXPECT_EQ(client(text), text == "[192.0.2.9" ? "192.0.2.9" : "127.0.0.1") << text;
  }
  EXPECT_EQ(client("192.0.2.9, unknown, 10.1.1.1"), "10.1.1.1");
  EXPECT_EQ(client(std::string(16'000, '9')), "127.0.0.1");
  std::string many = "192.0.2.9";
  for (int i = 1; i <= 200; ++i) many += ",10.0.0." + std::to_string(i);
  EXPECT_EQ(client(many), "10.0.0.185") << "after 16 proxies";
}

TEST(CountedAddressTest, an_ipv6_address_counts_without_its_last_64_bits) {
  EXPECT_EQ(counted_address("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(counted_address("::ffff:192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(counted_address("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
  EXPECT_EQ(counted_address("not an address"), "not an address");
}

}  // namespace
}  // namespace skua::http_server::client_address_test
