#include "base/random.hpp"

#include <cstdint>
#include <random>

namespace skua {

Bytes random_bytes(std::size_t count) {
  std::random_device source;
  Bytes bytes;
  bytes.reserve(count);
  while (bytes.size() < count) {
    bytes.push_back(static_cast<std::uint8_t>(source() & 0xFFU));
  }
  return bytes;
}

std::string random_token() {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  constexpr std::size_t kDigitsOfToken = 22;
  std::string token;
  for (const std::uint8_t byte : random_bytes(kDigitsOfToken)) token += kDigits[byte % 64];
  return token;
}

}  // namespace skua
