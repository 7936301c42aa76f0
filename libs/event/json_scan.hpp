#pragma once

#include <cstdint>
#include <cstring>

namespace skua::event {

/// The first character from `at` on that ends the plain part of a JSON string: a quote, a backslash
/// or a control character; otherwise `end`. Processes eight bytes per step, because most texts are
/// long.
inline const char* end_of_plain_text(const char* at, const char* end) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  // The high bit of each byte that is 0; bits above the first match may be wrong.
  const auto zeros = [](std::uint64_t word) { return (word - kOnes) & ~word & kHighBits; };
  for (; end - at >= 8; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    const std::uint64_t below_blank = (word - kOnes * 0x20) & ~word & kHighBits;
    if ((zeros(word ^ kOnes * '"') | zeros(word ^ kOnes * '\\') | below_blank) != 0) break;
  }
  while (at != end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20) ++at;
  return at;
}

constexpr bool is_json_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

}  // namespace skua::event
