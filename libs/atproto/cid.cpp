#include "atproto/cid.hpp"

#include <algorithm>
#include <cstddef>

#include "atproto/errc.hpp"

namespace skua::atproto {
namespace {

constexpr std::uint8_t kVersion1 = 0x01;
constexpr std::uint8_t kSha256 = 0x12;
constexpr std::uint8_t kSha256Size = 0x20;

constexpr std::string_view kBase32 = "abcdefghijklmnopqrstuvwxyz234567";
/// The multibase letter and 58 characters of 5 bits for 36 bytes; the last two bits are zero.
constexpr std::size_t kTextSize = 59;

int base32_value(char c) {
  if (c >= 'a' && c <= 'z') return c - 'a';
  if (c >= '2' && c <= '7') return c - '2' + 26;
  return -1;
}

}  // namespace

Result<Cid> Cid::parse_bytes(ByteView bytes) {
  if (!is_binary(bytes)) return errc::bad_cid;
  return from_trusted_bytes(bytes.data());
}

Result<Cid> Cid::parse(std::string_view text) {
  if (text.size() != kTextSize || text.front() != 'b') return errc::bad_cid;
  std::array<std::uint8_t, kBinarySize> bytes{};
  std::size_t filled = 0;
  std::uint32_t bits = 0;
  int bit_count = 0;
  for (const char c : text.substr(1)) {
    const int value = base32_value(c);
    if (value < 0) return errc::bad_cid;
    bits = (bits << 5) | static_cast<std::uint32_t>(value);
    bit_count += 5;
    if (bit_count >= 8) {
      bit_count -= 8;
      bytes[filled++] = static_cast<std::uint8_t>(bits >> bit_count);
      bits &= (1U << bit_count) - 1;
    }
  }
  if (bits != 0) return errc::bad_cid;
  return parse_bytes(bytes);
}

std::array<std::uint8_t, Cid::kBinarySize> Cid::to_bytes() const {
  std::array<std::uint8_t, kBinarySize> bytes{kVersion1, codec, kSha256, kSha256Size};
  std::copy(digest.begin(), digest.end(), bytes.begin() + 4);
  return bytes;
}

std::string Cid::to_string() const {
  std::string text;
  text.reserve(kTextSize);
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
