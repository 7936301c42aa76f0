#include "base32.hpp"

#include <cstdint>
#include <string_view>

namespace skua::sim {

std::string base32(ByteView bytes) {
  constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
  std::string text;
  std::uint32_t bits = 0;
  int held = 0;
  for (const std::uint8_t byte : bytes) {
    bits = bits << 8 | byte;
    for (held += 8; held >= 5; held -= 5) text += kAlphabet[bits >> (held - 5) & 31U];
  }
  if (held > 0) text += kAlphabet[bits << (5 - held) & 31U];
  return text;
}

}  // namespace skua::sim
