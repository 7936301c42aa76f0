#include <string>

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace skua::ascii_test {
namespace {

TEST(Ascii, lowers_its_own_letters_and_no_other) {
  EXPECT_EQ(ascii_lower("Alice.EXAMPLE-09_[`@{"), "alice.example-09_[`@{");
  EXPECT_EQ(ascii_lower(std::string_view()), "");
  for (int byte = 0; byte < 256; ++byte) {
    const auto c = static_cast<char>(byte);
    const bool upper = byte >= 65 && byte <= 90;
    EXPECT_EQ(ascii_lower(c), upper ? static_cast<char>(byte + 32) : c) << byte;
  }
}

TEST(Ascii, trims_blanks_at_both_ends) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed(" \r\n\t"), "");
  EXPECT_EQ(trimmed("\v a\f"), "\v a\f");
}

}  // namespace
}  // namespace skua::ascii_test
