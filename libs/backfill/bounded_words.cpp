#include "backfill/bounded_words.hpp"

#include <cstddef>

namespace skua::backfill {

std::string_view bounded_words(std::string_view words) {
  constexpr std::size_t kLongest = 500;
  if (words.size() <= kLongest) return words;
  std::size_t end = kLongest;
  // What follows the first byte of a character begins with the bits 10.
  while (end > 0 && (static_cast<unsigned char>(words[end]) & 0xC0) == 0x80) --end;
  return words.substr(0, end);
}

}  // namespace skua::backfill
