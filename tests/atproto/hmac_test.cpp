#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "atproto/sha256.hpp"

namespace skua::atproto {
namespace {

ByteView view_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string hex_hmac(std::string_view key, std::string_view data) {
  std::string text;
  for (const std::uint8_t byte : hmac_sha256(view_of(key), view_of(data))) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

// Test cases 1, 2 and 6 of RFC 4231, section 4.
TEST(HmacTest, digests_are_those_of_the_rfc) {
  EXPECT_EQ(hex_hmac(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex_hmac("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(
      hex_hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

}  // namespace
}  // namespace skua::atproto
