#include "transport/address_guard.hpp"

#include <cctype>
#include <string>

#include <gtest/gtest.h>

namespace skua::transport::address_guard_test {
namespace {

struct Case {
  const char* address;
  bool is_public;
};

class AddressGuard : public ::testing::TestWithParam<Case> {};

TEST_P(AddressGuard, judges) {
  const auto address = boost::asio::ip::make_address(GetParam().address);
  EXPECT_EQ(is_public(address), GetParam().is_public) << GetParam().address;
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  std::string name = std::to_string(info.index) + "_";
  for (const char* c = info.param.address; *c != '\0'; ++c) {
    name += std::isalnum(static_cast<unsigned char>(*c)) != 0 ? *c : '_';
  }
  return name;
}

// Both ends of each net, and what lies just outside.
INSTANTIATE_TEST_SUITE_P(
    Ipv4, AddressGuard,
    ::testing::Values(
        Case{"0.0.0.0", false}, Case{"0.255.255.255", false}, Case{"1.0.0.0", true},
        Case{"1.1.1.1", true}, Case{"9.255.255.255", true}, Case{"10.0.0.0", false},
        Case{"10.255.255.255", false}, Case{"11.0.0.0", true}, Case{"100.63.255.255", true},
        Case{"100.64.0.0", false}, Case{"100.127.255.255", false}, Case{"100.128.0.0", true},
        Case{"126.255.255.255", true}, Case{"127.0.0.1", false}, Case{"127.255.255.255", false},
        Case{"128.0.0.0", true}, Case{"169.253.255.255", true}, Case{"169.254.0.0", false},
        Case{"169.254.169.254", false}, Case{"169.255.0.0", true}, Case{"172.15.255.255", true},
        Case{"172.16.0.0", false}, Case{"172.31.255.255", false}, Case{"172.32.0.0", true}),
    name_of);
INSTANTIATE_TEST_SUITE_P(
    Ipv4Upper, AddressGuard,
    ::testing::Values(
        Case{"192.0.0.8", false}, Case{"192.0.1.0", true}, Case{"192.0.2.1", false},
        Case{"192.0.3.0", true}, Case{"192.88.99.1", false}, Case{"192.167.255.255", true},
        Case{"192.168.0.0", false}, Case{"192.168.255.255", false}, Case{"192.169.0.0", true},
        Case{"198.17.255.255", true}, Case{"198.18.0.0", false}, Case{"198.19.255.255", false},
        Case{"198.20.0.0", true}, Case{"198.51.100.1", false}, Case{"198.51.101.0", true},
        Case{"203.0.113.1", false}, Case{"203.0.114.0", true}, Case{"223.255.255.255", true},
        Case{"224.0.0.1", false}, Case{"239.255.255.255", false}, Case{"240.0.0.1", false},
        Case{"255.255.255.255", false}),
    name_of);
INSTANTIATE_TEST_SUITE_P(
    Ipv6, AddressGuard,
    ::testing::Values(Case{"::", false}, Case{"::1", false}, Case{"::7f00:1", false},
                      Case{"::102:304", false}, Case{"100::1", false}, Case{"2600::1", true},
                      Case{"2001:4860:4860::8888", true}, Case{"2001::1", false},
                      Case{"2001:1ff:ffff::1", false}, Case{"2001:200::1", true},
                      Case{"2001:db7::1", true}, Case{"2001:db8::1", false},
                      Case{"2001:db9::1", true}, Case{"2620:4f:8000::1", false},
                      Case{"3fff::1", false}, Case{"3fff:1000::1", true}, Case{"4000::1", false},
                      Case{"5f00::1", false}, Case{"fc00::1", false}, Case{"fdff::1", false},
                      Case{"fe80::1", false}, Case{"fe80::1%1", false}, Case{"fec0::1", false},
                      Case{"ff02::1", false}),
    name_of);
INSTANTIATE_TEST_SUITE_P(
    Ipv4Inside, AddressGuard,
    ::testing::Values(Case{"::ffff:127.0.0.1", false}, Case{"::ffff:10.1.2.3", false},
                      Case{"::ffff:169.254.169.254", false}, Case{"::ffff:1.1.1.1", true},
                      Case{"::ffff:0:127.0.0.1", false}, Case{"64:ff9b::127.0.0.1", false},
                      Case{"64:ff9b::192.168.1.1", false}, Case{"64:ff9b::1.1.1.1", true},
                      Case{"64:ff9b:1::1.1.1.1", false}, Case{"2002:7f00:1::1", false},
                      Case{"2002:a00:1::1", false}, Case{"2002:101:101::1", true}),
    name_of);

}  // namespace
}  // namespace skua::transport::address_guard_test
