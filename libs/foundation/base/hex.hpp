#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "base/bytes.hpp"

namespace skua {

/// Returns bytes as lower-case hexadecimal digits, two for each byte.
inline std::string hex_text(ByteView bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace skua
