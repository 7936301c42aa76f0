#include <array>
#include <string>

#include <gtest/gtest.h>

#include "base/seeded_hash.hpp"

namespace skua::sip_hash_test {
namespace {

// Key and texts of the reference implementation's vectors: 00 01 02 ...
constexpr SipKey kKey = {0x0706050403020100U, 0x0f0e0d0c0b0a0908U};

std::string counted_bytes(std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(i);
  return bytes;
}

TEST(SipHashTest, gives_the_numbers_of_the_reference_implementation) {
  EXPECT_EQ(sip_hash(kKey, ""), 0x726fdb47dd0e0e31U);
  EXPECT_EQ(sip_hash(kKey, counted_bytes(1)), 0x74f839c593dc67fdU);
  EXPECT_EQ(sip_hash(kKey, counted_bytes(7)), 0xab0200f58b01d137U);
  EXPECT_EQ(sip_hash(kKey, counted_bytes(8)), 0x93f5f5799a932462U);
  EXPECT_EQ(sip_hash(kKey, counted_bytes(15)), 0xa129ca6149be45e5U);
}

TEST(SipHashTest, another_key_gives_another_number) {
  EXPECT_NE(sip_hash({kKey[0], kKey[1] + 1}, "text"), sip_hash(kKey, "text"));
  EXPECT_NE(sip_hash({kKey[0] + 1, kKey[1]}, "text"), sip_hash(kKey, "text"));
}

}  // namespace
}  // namespace skua::sip_hash_test
