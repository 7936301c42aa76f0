#include "atproto/cid.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "atproto/errc.hpp"

namespace skua::atproto {
namespace {

constexpr std::uint8_t kVersion1 = 0x01;
constexpr std::uint8_t kSha256 = 0x12;
constexpr std::uint8_t kSha256Size = 0x20;

constexpr std::string_view kBase32 = "abcdefghijklmnopqrstuvwxyz234567";
/// The text has the multibase letter and 58 characters of 5 bits for 36 bytes; the last two bits
/// are zero.
constexpr std::size_t kCidTextSize = 59;

/// `kBase32Values` has the value of each character. A character outside of the alphabet has this
/// bit, which no value has.
constexpr std::uint8_t kNoValue = 0x80;
constexpr std::array<std::uint8_t, 256> kBase32Values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoValue);
  for (std::size_t i = 0; i < kBase32.size(); ++i) {
    values[static_cast<unsigned char>(kBase32[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

/// Removes an unsigned LEB128 number in its shortest form from the front of `in`. Returns nothing
/// if `in` does not begin with such a number.
std::optional<std::uint64_t> take_varint(ByteView& in) {
  constexpr std::size_t kMaxBytes = 9;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < std::min(kMaxBytes, in.size()); ++i) {
    const std::uint8_t byte = in[i];
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << (7 * i);
    if ((byte & 0x80U) != 0) continue;
    if (byte == 0 && i > 0) return std::nullopt;
    in = in.subspan(i + 1);
    return value;
  }
  return std::nullopt;
}

}  // namespace

std::size_t Cid::size_of_any(ByteView front) {
  constexpr std::size_t kVersion0 = 2 + kSha256Size;
  if (front.size() >= kVersion0 && front[0] == kSha256 && front[1] == kSha256Size) return kVersion0;
  ByteView rest = front;
  if (take_varint(rest) != kVersion1 || !take_varint(rest) || !take_varint(rest)) return 0;
  const auto digest = take_varint(rest);
  if (!digest || *digest > rest.size()) return 0;
  return front.size() - rest.size() + *digest;
}

Result<Cid> Cid::parse_bytes(ByteView bytes) {
  if (!is_binary(bytes)) return errc::bad_cid;
  return from_trusted_bytes(bytes.data());
}

Result<Cid> Cid::parse(std::string_view text) {
  if (text.size() != kCidTextSize || text.front() != 'b') return errc::bad_cid;
  const auto value = [text](std::size_t i) {
    return kBase32Values[static_cast<unsigned char>(text[i])];
  };
  // Decodes eight characters into five bytes in each step. Each like names three or four CIDs, so
  // this loop is hot.
  std::array<std::uint8_t, kBinarySize> bytes{};
  std::uint8_t seen = 0;
  std::size_t at = 1;
  std::size_t filled = 0;
  for (; filled + 5 <= kBinarySize; filled += 5) {
    std::uint64_t bits = 0;
    for (std::size_t end = at + 8; at < end; ++at) {
      seen |= value(at);
      bits = bits << 5 | value(at);
    }
    for (std::size_t i = 0; i < 5; ++i) {
      bytes[filled + i] = static_cast<std::uint8_t>(bits >> (8 * (4 - i)));
    }
  }
  // The last byte has two characters: ten bits, of which two must be zero.
  const unsigned last = static_cast<unsigned>(value(at)) << 5 | value(at + 1);
  seen = static_cast<std::uint8_t>(seen | value(at) | value(at + 1));
  if ((seen & kNoValue) != 0 || (last & 3U) != 0) return errc::bad_cid;
  bytes[filled] = static_cast<std::uint8_t>(last >> 2);
  return parse_bytes(bytes);
}

std::array<std::uint8_t, Cid::kBinarySize> Cid::to_bytes() const {
  std::array<std::uint8_t, kBinarySize> bytes{kVersion1, codec, kSha256, kSha256Size};
  std::copy(digest.begin(), digest.end(), bytes.begin() + 4);
  return bytes;
}

std::string Cid::to_string() const {
  std::string text;
  text.reserve(kCidTextSize);
  text.push_back('b');
  std::uint32_t bits = 0;
  int bit_count = 0;
  for (const std::uint8_t byte : to_bytes()) {
    bits = (bits << 8) | byte;
    bit_count += 8;
    while (bit_count >= 5) {
      bit_count -= 5;
      text.push_back(kBase32[(bits >> bit_count) & 31U]);
    }
    bits &= (1U << bit_count) - 1;
  }
  text.push_back(kBase32[(bits << (5 - bit_count)) & 31U]);
  return text;
}

}  // namespace skua::atproto
