#include "atproto/multikey.hpp"

#include <algorithm>
#include <cstddef>

#include "atproto/errc.hpp"

namespace skua::atproto {
namespace {

constexpr std::string_view kBase58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
constexpr std::size_t kMaxBase58 = 256;
constexpr std::string_view kDidKey = "did:key:";

/// The multicodecs secp256k1-pub and p256-pub as varints.
using Prefix = std::array<std::uint8_t, 2>;
constexpr Prefix kK256Prefix = {0xe7, 0x01};
constexpr Prefix kP256Prefix = {0x80, 0x24};

}  // namespace

std::string encode_base58(ByteView bytes) {
  std::string digits;  // least significant first
  for (const std::uint8_t byte : bytes) {
    std::uint32_t carry = byte;
    for (char& digit : digits) {
      carry += static_cast<std::uint32_t>(digit) << 8;
      digit = static_cast<char>(carry % 58);
      carry /= 58;
    }
    for (; carry > 0; carry /= 58) digits.push_back(static_cast<char>(carry % 58));
  }
  const auto first = std::find_if(bytes.begin(), bytes.end(), [](auto byte) { return byte != 0; });
  std::string text(static_cast<std::size_t>(first - bytes.begin()), kBase58.front());
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    text.push_back(kBase58[static_cast<std::size_t>(*digit)]);
  }
  return text;
}

std::optional<Bytes> decode_base58(std::string_view text) {
  if (text.size() > kMaxBase58) return std::nullopt;
  Bytes bytes;  // least significant first
  for (const char c : text) {
    const std::size_t value = kBase58.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    auto carry = static_cast<std::uint32_t>(value);
    for (std::uint8_t& byte : bytes) {
      carry += static_cast<std::uint32_t>(byte) * 58;
      byte = static_cast<std::uint8_t>(carry);
      carry >>= 8;
    }
    for (; carry > 0; carry >>= 8) bytes.push_back(static_cast<std::uint8_t>(carry));
  }
  const std::size_t zeros = std::min(text.find_first_not_of(kBase58.front()), text.size());
  bytes.insert(bytes.end(), zeros, 0);
  std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

Result<Multikey> Multikey::parse(std::string_view text) {
  if (!text.starts_with('z')) return errc::bad_key;
  const auto bytes = decode_base58(text.substr(1));
  Multikey key;
  if (!bytes || bytes->size() != kK256Prefix.size() + key.point.size()) return errc::bad_key;
  const Prefix prefix = {(*bytes)[0], (*bytes)[1]};
  if (prefix == kK256Prefix) {
    key.curve = Curve::k256;
  } else if (prefix == kP256Prefix) {
    key.curve = Curve::p256;
  } else {
    return errc::bad_key;
  }
  std::copy(bytes->begin() + prefix.size(), bytes->end(), key.point.begin());
  constexpr std::uint8_t kEvenY = 2;
  constexpr std::uint8_t kOddY = 3;
  if (key.point[0] != kEvenY && key.point[0] != kOddY) return errc::bad_key;
  return key;
}

Result<Multikey> Multikey::parse_did_key(std::string_view did) {
  if (!did.starts_with(kDidKey)) return errc::bad_key;
  return parse(did.substr(kDidKey.size()));
}

std::string Multikey::to_string() const {
  const Prefix& prefix = curve == Curve::k256 ? kK256Prefix : kP256Prefix;
  Bytes bytes(prefix.begin(), prefix.end());
  bytes.insert(bytes.end(), point.begin(), point.end());
  return "z" + encode_base58(bytes);
}

std::string Multikey::to_did_key() const {
  return std::string(kDidKey) + to_string();
}

}  // namespace skua::atproto
