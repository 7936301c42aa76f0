#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace skua {

/// The general case of `is_utf8`: text that has bytes beyond ASCII.
bool is_utf8_beyond_ascii(std::string_view text);

/// Whether `text` is well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
/// ASCII, which most text is, costs one pass of eight bytes a step.
inline bool is_utf8(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  const char* p = text.data();
  std::size_t left = text.size();
  std::uint64_t seen = 0;
  for (; left >= 8; p += 8, left -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, 8);
    seen |= word;
  }
  for (; left > 0; ++p, --left) seen |= static_cast<unsigned char>(*p);
  return (seen & kHighBits) == 0 || is_utf8_beyond_ascii(text);
}

/// The bytes of the well-formed sequence that begins `text`; 0: its first byte begins none. `text`
/// is not empty.
std::size_t utf8_length(std::string_view text);

/// `text` for a terminal: at most `characters` long, tabs and line ends as spaces, other control
/// characters, those that change the direction of text, and all beyond ASCII if it is not UTF-8, as
/// `?`.
std::string printable(std::string_view text, std::size_t characters);

/// `text` for a column or a report, without loss: control characters and those that change the
/// direction of text as `\u{202e}`, bytes that are not UTF-8 as `\xff`, a backslash as two.
std::string escaped(std::string_view text);

}  // namespace skua
