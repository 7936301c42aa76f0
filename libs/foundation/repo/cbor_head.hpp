#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.hpp"

namespace skua::repo {

/// The major types of CBOR (RFC 8949, section 3.1): the upper three bits of an item's first byte.
enum class CborMajor : std::uint8_t {
  unsigned_integer = 0,
  negative_integer = 1,
  bytes = 2,
  text = 3,
  list = 4,
  map = 5,
  tag = 6,
  simple = 7,
};

/// Returns the first byte of an item, with zeros for the five bits of its argument.
constexpr std::uint8_t cbor_type_bits(CborMajor major) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(major) << 5U);
}

/// The first bytes of an item: its major type and its argument (RFC 8949, section 3).
struct CborHead {
  CborMajor major = CborMajor::simple;
  /// A number, the length of bytes or of a text, or the number of items of a list or map. The bits
  /// of a float.
  std::uint64_t argument = 0;
  /// False if fewer bytes could encode the argument, which DAG-CBOR forbids.
  bool is_shortest = true;
};

enum class CborHeadError : std::uint8_t {
  None,
  /// The bytes end in the head.
  Truncated,
  /// The length is indefinite, or the first byte is reserved.
  Malformed,
};

/// Reads the head at the beginning of `rest` and removes its bytes from `rest`. Inline, because it
/// runs some hundred times a frame. After an error `rest` and `head` have no defined content.
inline CborHeadError read_cbor_head(ByteView& rest, CborHead& head) {
  if (rest.empty()) return CborHeadError::Truncated;
  const std::uint8_t first = rest.front();
  const unsigned info = first & 0x1fU;
  rest = rest.subspan(1);
  head.major = static_cast<CborMajor>(first >> 5U);
  head.argument = info;
  head.is_shortest = true;
  if (info < 24) return CborHeadError::None;
  if (info > 27) return CborHeadError::Malformed;
  const std::size_t size = std::size_t{1} << (info - 24);
  if (rest.size() < size) return CborHeadError::Truncated;
  std::uint64_t argument = 0;
  for (const std::uint8_t byte : rest.first(size)) argument = argument << 8U | byte;
  rest = rest.subspan(size);
  constexpr std::array<std::uint64_t, 4> kTooSmall = {23, 0xff, 0xffff, 0xffff'ffff};
  head.argument = argument;
  head.is_shortest = argument > kTooSmall[info - 24];
  return CborHeadError::None;
}

}  // namespace skua::repo
