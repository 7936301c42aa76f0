#pragma once

#include <cstdint>

namespace skua::repo {

/// The major types of CBOR (RFC 8949, section 3.1) that DAG-CBOR uses: the upper three bits of an
/// item's first byte. Private to this library's readers and writers.
enum class CborMajor : std::uint8_t {
  unsigned_integer = 0,
  negative_integer = 1,
  bytes = 2,
  text = 3,
  list = 4,
  map = 5,
  tag = 6,
};

/// The first byte of an item, without the five bits of its argument.
constexpr std::uint8_t cbor_type_bits(CborMajor major) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(major) << 5U);
}

/// The tag of a CID link (DAG-CBOR specification, "Links").
inline constexpr std::uint64_t kCborLinkTag = 42;
/// The whole item null.
inline constexpr std::uint8_t kCborNull = 0xf6;

}  // namespace skua::repo
