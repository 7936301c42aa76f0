#include <string>

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace skua::utf8_test {
namespace {

/// UTF-8 of a code point by the book, surrogates and too large ones included.
std::string encode(std::uint32_t c) {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xc0 | c >> 6), byte(0x80 | (c & 63))};
  if (c < 0x10000) {
    return {byte(0xe0 | c >> 12), byte(0x80 | (c >> 6 & 63)), byte(0x80 | (c & 63))};
  }
  return {byte(0xf0 | c >> 18), byte(0x80 | (c >> 12 & 63)), byte(0x80 | (c >> 6 & 63)),
          byte(0x80 | (c & 63))};
}

TEST(Utf8, takes_every_code_point_and_no_other) {
  for (std::uint32_t c = 0; c < 0x120000; ++c) {
    const bool is_surrogate = c >= 0xd800 && c < 0xe000;
    ASSERT_EQ(is_utf8(encode(c)), !is_surrogate && c < 0x110000) << std::hex << c;
  }
}

TEST(Utf8, takes_every_two_bytes_as_a_decoder_would) {
  for (unsigned first = 0; first < 256; ++first) {
    for (unsigned second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      const bool both_ascii = first < 0x80 && second < 0x80;
      const bool pair = first >= 0xc2 && first < 0xe0 && second >= 0x80 && second < 0xc0;
      ASSERT_EQ(is_utf8(text), both_ascii || pair) << first << ' ' << second;
    }
  }
}

TEST(Utf8, refuses_overlong_forms) {
  EXPECT_FALSE(is_utf8("\xc0\x80"));
  EXPECT_FALSE(is_utf8("\xc1\xbf"));
  EXPECT_FALSE(is_utf8("\xe0\x9f\xbf"));
  EXPECT_FALSE(is_utf8("\xf0\x8f\xbf\xbf"));
}

TEST(Utf8, refuses_a_cut_sequence_anywhere) {
  const std::string whole = "bird \xf0\x9f\x90\xa6 and \xe6\xb0\xb4, \xc3\xa9";
  ASSERT_TRUE(is_utf8(whole));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const bool at_boundary = (static_cast<unsigned char>(whole[length]) & 0xc0U) != 0x80U;
    EXPECT_EQ(is_utf8(whole.substr(0, length)), at_boundary) << length;
  }
}

TEST(Utf8, finds_a_bad_byte_at_any_place) {
  for (std::size_t length = 1; length < 40; ++length) {
    for (std::size_t at = 0; at < length; ++at) {
      std::string text(length, 'x');
      ASSERT_TRUE(is_utf8(text));
      text[at] = '\xff';
      ASSERT_FALSE(is_utf8(text)) << length << ' ' << at;
    }
  }
}

TEST(Utf8, takes_empty_text) {
  EXPECT_TRUE(is_utf8({}));
}

TEST(Printable, replaces_control_characters) {
  EXPECT_EQ(printable("a\nb\x1b[2J\x7f\xc2\x9b.", 100), "a b?[2J??.");
  EXPECT_EQ(printable("caf\xc3\xa9 \xc2\xa0", 100), "caf\xc3\xa9 \xc2\xa0");
}

TEST(Printable, replaces_what_changes_the_direction_of_text) {
  // U+202E turns all that follows on its line around.
  EXPECT_EQ(printable("gpj.\xe2\x80\xae"
                      "exe",
                      100),
            "gpj.?exe");
  for (const char* mark :
       {"\xd8\x9c", "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaa",
        "\xe2\x80\xad", "\xe2\x81\xa6", "\xe2\x81\xa9"}) {
    EXPECT_EQ(printable(mark, 100), "?");
  }
  // Joins emoji.
  EXPECT_EQ(printable("\xe2\x80\x8d", 100), "\xe2\x80\x8d");
}

TEST(Escaped, keeps_texts_apart_and_shows_each_byte) {
  EXPECT_EQ(escaped("caf\xc3\xa9 \xf0\x9f\xa6\x86"), "caf\xc3\xa9 \xf0\x9f\xa6\x86");
  EXPECT_EQ(escaped("a\nb\x1b[2J\x7f"), "a\\u{a}b\\u{1b}[2J\\u{7f}");
  EXPECT_EQ(escaped("\xe2\x80\xae"
                    "x"),
            "\\u{202e}x");
  EXPECT_EQ(escaped("\\u{a}"), "\\\\u{a}");
  EXPECT_EQ(escaped("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(escaped(std::string_view("\0", 1)), "\\u{0}");
  EXPECT_EQ(escaped(""), "");
}

TEST(Printable, cuts_at_a_character) {
  EXPECT_EQ(printable("\xc3\xa4\xc3\xb6\xc3\xbc", 2), "\xc3\xa4\xc3\xb6");
  EXPECT_EQ(printable("abc", 3), "abc");
  EXPECT_EQ(printable("abc", 0), "");
}

TEST(Printable, keeps_only_ascii_of_what_is_no_utf8) {
  EXPECT_EQ(printable("a\x80\x80\xff"
                      "b",
                      100),
            "a???b");
  EXPECT_EQ(printable(std::string(1'000, '\x80'), 10), "??????????");
}

}  // namespace
}  // namespace skua::utf8_test
