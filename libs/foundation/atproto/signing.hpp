#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <openssl/evp.h>
#include <secp256k1.h>

#include "atproto/errc.hpp"
#include "atproto/sha256.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace skua::atproto::k256 {

// K-256 by libsecp256k1, which is nine times faster at it than OpenSSL. Private to signing.cpp.

using Point = std::array<std::uint8_t, 33>;
using Secret = std::array<std::uint8_t, 32>;

/// Parses a point in either form; nothing when it does not lie on the curve.
std::optional<secp256k1_pubkey> parse_point(ByteView point);
Point compress(const secp256k1_pubkey& key);

/// errc{} when the 64 bytes are the key's signature of the digest.
errc verify(const secp256k1_pubkey& key, const Digest& digest, const std::uint8_t* signature);

/// Nothing when the secret is no private key.
std::optional<secp256k1_pubkey> public_key(const Secret& secret);
/// The low-S signature.
std::array<std::uint8_t, 64> sign(const Secret& secret, const Digest& digest);

}  // namespace skua::atproto::k256

namespace skua::atproto::p256 {

// P-256 by OpenSSL. Private to signing.cpp.

using Point = std::array<std::uint8_t, 33>;
using Secret = std::array<std::uint8_t, 32>;
using Key = std::shared_ptr<EVP_PKEY>;

/// Parses a point in either form; null when it does not lie on the curve.
Key parse_point(ByteView point);
Point compress(const Key& key);

/// errc{} when the 64 bytes are the key's signature of the digest.
errc verify(const Key& key, const Digest& digest, const std::uint8_t* signature);

/// The key pair of a secret; null when the secret is no private key.
Key key_pair(const Secret& secret);
/// The low-S signature.
std::array<std::uint8_t, 64> sign(const Key& key, const Digest& digest);

}  // namespace skua::atproto::p256

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

/// An ECDSA signature over SHA-256 as atproto writes it (atproto.com/specs/cryptography): r and s,
/// 32 bytes big-endian each, s in the lower half of its range.
using Signature = std::array<std::uint8_t, 64>;

/// A public key, parsed once: parsing costs a sixth of a check. Cheap to copy; any number of
/// threads.
class VerifyingKey {
 public:
  /// Error: the point is not on the curve.
  static Result<VerifyingKey> from_multikey(const Multikey& key);

  /// From a compressed (33 bytes) or uncompressed (65 bytes) point, as in verification methods
  /// older than Multikey, which have no prefix for the curve. Error: not a point of the curve.
  static Result<VerifyingKey> from_point(Curve curve, ByteView point);

  /// Checks the signature of a message (which is hashed here). Error: bad_signature_form,
  /// high_s_signature or wrong_signature.
  Result<void> verify(ByteView message, ByteView signature) const;

  Curve curve() const;
  Multikey multikey() const;

 private:
  struct Impl;
  explicit VerifyingKey(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

/// `VerifyingKey::verify` with a key that is used once. Errors: those of it, or of its parsing.
Result<void> verify_signature(const Multikey& key, ByteView message, ByteView signature);

/// A private key, for tests and the simulator: an indexer never signs. Cheap to copy; any number of
/// threads.
class SigningKey {
 public:
  /// Error: zero, or not below the order of the curve.
  static Result<SigningKey> from_bytes(Curve curve, const std::array<std::uint8_t, 32>& secret);

  Multikey public_key() const;

  /// Signs a message (which is hashed here). K-256 gives the same signature each time (RFC 6979),
  /// P-256 does not. Throws when the cryptographic library fails.
  Signature sign(ByteView message) const;

 private:
  struct Impl;
  explicit SigningKey(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace skua::atproto
