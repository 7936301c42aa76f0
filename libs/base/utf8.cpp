#include "base/utf8.hpp"

#include <cstddef>

namespace skua {
namespace {

bool is_continuation(unsigned char c) {
  return (c & 0xc0U) == 0x80U;
}

/// Length of the well-formed sequence that begins at `p` (of `left` bytes), 0 when there is none.
/// The bounds of the second byte are those of table 3-7 of the Unicode Standard.
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

std::string printable(std::string_view text, std::size_t characters) {
  const bool is_text = is_utf8(text);
  std::string out;
  for (std::size_t i = 0; i < text.size() && characters > 0; --characters) {
    const auto* p = reinterpret_cast<const unsigned char*>(text.data()) + i;
    const std::size_t length = is_text ? sequence_length(p, text.size() - i) : 1;
    // U+0080 to U+009F are control characters, too.
    const bool is_control = *p < 0x20 || *p == 0x7f || (*p == 0xc2 && length == 2 && p[1] < 0xa0);
    if (*p == '\t' || *p == '\n' || *p == '\r') {
      out += ' ';
    } else if (is_control || (!is_text && *p >= 0x80)) {
      out += '?';
    } else {
      out += text.substr(i, length);
    }
    i += length;
  }
  return out;
}

}  // namespace skua
