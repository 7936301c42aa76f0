#include "base/text.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace skua {

namespace {

bool is_continuation(unsigned char c) {
  return (c & 0xc0U) == 0x80U;
}

/// Returns the length of the well-formed sequence at the beginning of the `left` bytes at `p`, or 0
/// if there is none. The bounds of the second byte are those of table 3-7 of the Unicode Standard.
std::size_t sequence_length(const unsigned char* p, std::size_t left) {
  const unsigned char lead = p[0];
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  if (lead < 0xe0) return left >= 2 && is_continuation(p[1]) ? 2 : 0;
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (lead < 0xf0) {
    if (lead == 0xe0) low = 0xa0;   // overlong
    if (lead == 0xed) high = 0x9f;  // surrogates
    return left >= 3 && p[1] >= low && p[1] <= high && is_continuation(p[2]) ? 3 : 0;
  }
  if (lead == 0xf0) low = 0x90;   // overlong
  if (lead == 0xf4) high = 0x8f;  // above U+10FFFF
  return left >= 4 && p[1] >= low && p[1] <= high && is_continuation(p[2]) && is_continuation(p[3])
             ? 4
             : 0;
}

std::uint32_t code_point(const unsigned char* p, std::size_t length) {
  if (length == 1) return p[0];
  std::uint32_t value = p[0] & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) value = value << 6U | (p[i] & 0x3fU);
  return value;
}

/// Whether a terminal acts on a character instead of showing it. Such characters are C0 and C1
/// controls, and line and paragraph separators. Others are the marks, embeddings, overrides and
/// isolates of the Unicode Bidirectional Algorithm, which can show text in another order.
bool is_control(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

std::string plural_of(std::string_view noun) {
  constexpr std::string_view kVowels = "aeiou";
  const bool ends_in_y = noun.ends_with('y') && noun.size() > 1 &&
                         kVowels.find(noun[noun.size() - 2]) == std::string_view::npos;
  if (ends_in_y) return fmt::format("{}ies", noun.substr(0, noun.size() - 1));
  const bool hisses =
      noun.ends_with('s') || noun.ends_with('x') || noun.ends_with("ch") || noun.ends_with("sh");
  return fmt::format("{}{}", noun, hisses ? "es" : "s");
}

}  // namespace

bool is_utf8_beyond_ascii(std::string_view text) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t left = text.size();
  while (left > 0) {
    const std::size_t length = sequence_length(p, left);
    if (length == 0) return false;
    p += length;
    left -= length;
  }
  return true;
}

std::size_t utf8_length(std::string_view text) {
  return sequence_length(reinterpret_cast<const unsigned char*>(text.data()), text.size());
}

std::string printable(std::string_view text, std::size_t characters) {
  const bool is_text = is_utf8(text);
  std::string out;
  for (std::size_t i = 0; i < text.size() && characters > 0; --characters) {
    const auto* p = reinterpret_cast<const unsigned char*>(text.data()) + i;
    const std::size_t length = is_text ? sequence_length(p, text.size() - i) : 1;
    if (*p == '\t' || *p == '\n' || *p == '\r') {
      out += ' ';
    } else if (is_control(code_point(p, length)) || (!is_text && *p >= 0x80)) {
      out += '?';
    } else {
      out += text.substr(i, length);
    }
    i += length;
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto* p = reinterpret_cast<const unsigned char*>(text.data());
    const std::size_t length = sequence_length(p, text.size());
    if (length == 0) {
      out += fmt::format("\\x{:02x}", *p);
    } else if (const std::uint32_t c = code_point(p, length); is_control(c)) {
      out += fmt::format("\\u{{{:x}}}", c);
    } else if (c == '\\') {
      out += "\\\\";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string with_commas(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string noun_for(std::int64_t count, std::string_view noun) {
  return count == 1 ? std::string(noun) : plural_of(noun);
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}", count, noun_for(count, noun));
}

std::string size_text(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.1f} GB", bytes / 1e9);
  if (bytes >= 1e6) return fmt::format("{:.1f} MB", bytes / 1e6);
  return fmt::format("{:.0f} kB", std::ceil(bytes / 1e3));
}

}  // namespace skua
