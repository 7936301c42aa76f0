#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace skua::atproto {

/// The two curves of atproto (atproto.com/specs/cryptography).
enum class Curve : std::uint8_t { k256, p256 };

/// A public key as a compressed point: 02 or 03, then x. Parsing checks the form, not that the
/// point lies on the curve: `VerifyingKey` does that.
struct Multikey {
  Curve curve = Curve::k256;
  std::array<std::uint8_t, 33> point{};

  /// Reads `z` and base58btc of the multicodec (K-256 E7 01, P-256 80 24) and the point: the
  /// publicKeyMultibase of a verification method of type Multikey.
  static Result<Multikey> parse(std::string_view text);
  /// Reads `did:key:` and a multikey.
  static Result<Multikey> parse_did_key(std::string_view did);

  std::string to_string() const;
  std::string to_did_key() const;

  friend bool operator==(const Multikey&, const Multikey&) = default;
};

/// Base58 with Bitcoin's alphabet, without a multibase prefix. Decoding takes at most 256
/// characters: its time grows with the square of the length. Nothing: a character of another
/// alphabet, or too long.
std::string encode_base58(ByteView bytes);
std::optional<Bytes> decode_base58(std::string_view text);

}  // namespace skua::atproto
