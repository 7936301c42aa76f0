#include "atproto/computed_number.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "atproto/account_group.hpp"

namespace skua::atproto {
namespace {

NumberKey key_of(std::uint8_t byte) {
  NumberKey key;
  key.fill(byte);
  return key;
}

TEST(ComputedNumber, carries_its_group) {
  std::set<AccountNumber> numbers;
  for (int i = 0; i < 2'000; ++i) {
    const std::string did = "did:plc:" + std::to_string(i);
    const AccountNumber number = computed_account_number(key_of(7), did);
    EXPECT_GT(number, 0);
    EXPECT_EQ(number >> kComputedBits, account_group(did));
    numbers.insert(number);
  }
  EXPECT_EQ(numbers.size(), 2'000U);
}

TEST(ComputedNumber, depends_on_the_key) {
  const AccountNumber one = computed_account_number(key_of(1), "did:plc:a");
  EXPECT_EQ(computed_account_number(key_of(1), "did:plc:a"), one);
  EXPECT_NE(computed_account_number(key_of(2), "did:plc:a"), one);
}

}  // namespace
}  // namespace skua::atproto
