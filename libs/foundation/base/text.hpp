#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace skua {

/// Converts the letters A to Z to lower case and keeps all other bytes, in every locale. Used to
/// compare host names, schemes and handles.
constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return ascii_lower(c); });
  return lower;
}

/// Returns `text` without the blanks, tabs and line ends at both ends, as a view.
constexpr std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// The general case of `is_utf8`, for text that has bytes beyond ASCII.
bool is_utf8_beyond_ascii(std::string_view text);

/// Whether `text` is well-formed UTF-8, without overlong forms, surrogates and characters above
/// U+10FFFF. Most text is ASCII, which needs one pass in steps of eight bytes.
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

/// Returns the length in bytes of the well-formed sequence at the beginning of `text`, or 0 if
/// there is none. `text` must not be empty.
std::size_t utf8_length(std::string_view text);

/// Converts `text` for a terminal, to at most `characters` characters. Tabs and line ends become
/// spaces. Other control characters, and characters that change the direction of text, become `?`.
/// If `text` is not UTF-8, all bytes beyond ASCII also become `?`.
std::string printable(std::string_view text, std::size_t characters);

/// Converts `text` for a column or a report, without loss. Control characters, and characters that
/// change the direction of text, become escapes such as `\u{202e}`; bytes that are not UTF-8 become
/// escapes such as `\xff`; a backslash becomes two.
std::string escaped(std::string_view text);

/// Writes 1234567 as `1,234,567`.
std::string with_commas(std::int64_t number);

/// Returns the noun in the form for the count: "frame" for 1, "frames" for every other count.
/// Supports the regular English plurals: "repositories", "indexes", "rows".
std::string noun_for(std::int64_t count, std::string_view noun);

/// Writes a count with its noun: "1 frame", "2 frames", "0 repositories".
std::string counted(std::int64_t count, std::string_view noun);

/// Writes a number of bytes for people in decimal units: `12 kB`, `3.4 MB`, `5.6 GB`.
std::string size_text(double bytes);

}  // namespace skua
