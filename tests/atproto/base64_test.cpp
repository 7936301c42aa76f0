#include "atproto/base64.hpp"

#include <cstdint>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "support/test_vectors.hpp"

namespace skua::atproto::base64_test {
namespace {

std::string base64(ByteView bytes) {
  std::string text = "before ";
  append_base64(text, bytes);
  return text.substr(7);
}

struct Pair {
  const char* bytes;
  const char* text;
  const char* padding;
};

// RFC 4648, section 10.
constexpr Pair kExamples[] = {
    {"", "", ""},
    {"f", "Zg", "=="},
    {"fo", "Zm8", "="},
    {"foo", "Zm9v", ""},
    {"foob", "Zm9vYg", "=="},
    {"fooba", "Zm9vYmE", "="},
    {"foobar", "Zm9vYmFy", ""},
};

TEST(Base64, has_the_standards_form) {
  for (const Pair& pair : kExamples) {
    const std::string text = pair.text;
    EXPECT_EQ(base64(as_bytes(pair.bytes)), text);
    for (const std::string& form : {text, text + pair.padding}) {
      const auto bytes = parse_base64(form);
      ASSERT_TRUE(bytes) << form;
      EXPECT_EQ(as_text(*bytes), pair.bytes);
    }
  }
}

TEST(Base64, comes_back_at_every_length) {
  std::mt19937 random(1);
  for (std::size_t size = 0; size < 200; ++size) {
    Bytes bytes(size);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    const std::string text = base64(bytes);
    EXPECT_EQ(text.size(), (size * 8 + 5) / 6);
    EXPECT_EQ(parse_base64(text), bytes);
    EXPECT_EQ(test::from_base64(text), bytes);
  }
}

TEST(Base64, ignores_bits_that_remain) {
  EXPECT_EQ(parse_base64("Zh"), parse_base64("Zg"));
  EXPECT_EQ(parse_base64("Zm9="), parse_base64("Zm8="));
}

/// Some of these OpenSSL alone would accept, or read in part.
TEST(Base64, refuses_other_text) {
  for (const std::string text : {"A",
                                 "AAAAA",
                                 "A!",
                                 "AA AA",
                                 " AAAA",
                                 "AAAA ",
                                 "AAAA\n",
                                 "\tAAAA",
                                 "AA\nAA",
                                 "AAAA\r\n",
                                 "-AAA",
                                 "AAA-",
                                 "AA_A",
                                 "AAAA-AAA",
                                 "AAAA----",
                                 "AAAA    ",
                                 "A=AA",
                                 "AA=A",
                                 "=AAA",
                                 "====",
                                 "===",
                                 "AA==AAAA",
                                 "AA===",
                                 "AA\x80"
                                 "A"}) {
    EXPECT_FALSE(parse_base64(text)) << text;
  }
  EXPECT_FALSE(parse_base64(std::string("AAA\0", 4)));
}

}  // namespace
}  // namespace skua::atproto::base64_test
