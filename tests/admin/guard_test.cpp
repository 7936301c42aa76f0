#include "admin/guard.hpp"

#include <optional>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/manual_clock.hpp"

namespace skua::admin::guard_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr const char* kToken = "0123456789abcdefghij";

class GuardTest : public testing::Test {
 protected:
  /// The status of the refusal; 0: admitted.
  unsigned status(const std::string& authorization, const std::string& address = "192.0.2.1") {
    http_server::Request request;
    request.authorization = authorization;
    request.address = address;
    refusal_ = guard_.refusal(request);
    return refusal_ ? refusal_->status : 0;
  }
  unsigned wrong(const std::string& address = "192.0.2.1") {
    return status("Bearer wrong", address);
  }
  unsigned right(const std::string& address = "192.0.2.1") {
    return status(fmt::format("Bearer {}", kToken), address);
  }

  test::ManualClock clock_;
  Guard guard_{{Token(kToken), "--token-file", clock_}};
  std::optional<http_server::Response> refusal_;
};

TEST_F(GuardTest, only_the_right_token_passes) {
  EXPECT_EQ(right(), 0U);
  EXPECT_EQ(status(fmt::format("bearer   {} ", kToken)), 0U);
  EXPECT_EQ(wrong(), 401U);
  for (const char* other : {"", "Bearer", "Basic 0123456789abcdefghij", "0123456789abcdefghij"}) {
    EXPECT_EQ(status(other), 401U) << other;
    EXPECT_THAT(refusal_->body, Not(HasSubstr(kToken)));
  }
}

TEST_F(GuardTest, without_a_token_every_request_is_refused_with_the_name_of_the_setting) {
  Guard guard({std::nullopt, "the setting --token-file", clock_});
  http_server::Request request;
  for (const char* authorization : {"", "Bearer ", "Bearer 0123456789abcdefghij"}) {
    request.authorization = authorization;
    const auto refusal = guard.refusal(request);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->status, 401U);
    EXPECT_THAT(refusal->body, HasSubstr("--token-file"));
  }
}

TEST_F(GuardTest, after_ten_wrong_tokens_an_address_is_refused_for_the_rest_of_a_minute) {
  for (int i = 0; i < 9; ++i) EXPECT_EQ(wrong(), 401U);
  EXPECT_EQ(right(), 0U);
  clock_.advance(30s);
  EXPECT_EQ(wrong(), 401U) << "the tenth";
  EXPECT_EQ(wrong(), 429U);
  EXPECT_EQ(right(), 429U) << "not even compared";
  EXPECT_EQ(right("192.0.2.2"), 0U) << "another address";
  clock_.advance(29s);
  EXPECT_EQ(right(), 429U);
  clock_.advance(1s);
  EXPECT_EQ(right(), 0U);
  EXPECT_EQ(wrong(), 401U);
}

TEST_F(GuardTest, requests_without_a_token_do_not_count) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(status(""), 401U);
  EXPECT_EQ(right(), 0U);
}

TEST_F(GuardTest, a_host_cannot_use_its_other_ipv6_addresses) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(wrong(fmt::format("2001:db8::{:x}", i + 1)), 401U);
  EXPECT_EQ(wrong("2001:db8::ffff"), 429U);
  EXPECT_EQ(wrong("2001:db8:0:1::1"), 401U);
}

TEST(WrongTokensTest, the_memory_is_bounded) {
  WrongTokens wrong;
  test::ManualClock clock;
  for (std::size_t i = 0; i < WrongTokens::kAllowed; ++i) wrong.add("first", clock.now());
  EXPECT_TRUE(wrong.is_refused("first", clock.now()));
  clock.advance(1ms);
  for (std::size_t i = 0; i + 1 < WrongTokens::kAddresses; ++i) {
    wrong.add(std::to_string(i), clock.now());
  }
  EXPECT_EQ(wrong.size(), WrongTokens::kAddresses);
  EXPECT_TRUE(wrong.is_refused("first", clock.now()));
  wrong.add("first", clock.now());
  EXPECT_EQ(wrong.size(), WrongTokens::kAddresses);
  wrong.add("one more", clock.now());
  EXPECT_EQ(wrong.size(), WrongTokens::kAddresses);
  EXPECT_FALSE(wrong.is_refused("first", clock.now())) << "the oldest is forgotten";
  clock.advance(WrongTokens::kWindow);
  wrong.add("later", clock.now());
  EXPECT_EQ(wrong.size(), 1U) << "windows that have ended are forgotten";
}

}  // namespace
}  // namespace skua::admin::guard_test
