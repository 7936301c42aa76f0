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

// K-256 uses libsecp256k1, which is nine times faster than OpenSSL. Private to signing.cpp.

using Point = std::array<std::uint8_t, 33>;
using Secret = std::array<std::uint8_t, 32>;

/// Parses a point in either form. Returns nothing if the point does not lie on the curve.
std::optional<secp256k1_pubkey> parse_point(ByteView point);
Point compress(const secp256k1_pubkey& key);

/// Returns errc{} if the 64 bytes are the key's signature of the digest.
errc verify(const secp256k1_pubkey& key, const Digest& digest, const std::uint8_t* signature);

/// Returns nothing if the secret is not a private key.
std::optional<secp256k1_pubkey> public_key(const Secret& secret);
/// Returns the low-S signature.
std::array<std::uint8_t, 64> sign(const Secret& secret, const Digest& digest);

}  // namespace skua::atproto::k256

namespace skua::atproto::p256 {

// P-256 uses OpenSSL. Private to signing.cpp.

using Point = std::array<std::uint8_t, 33>;
using Secret = std::array<std::uint8_t, 32>;
using Key = std::shared_ptr<EVP_PKEY>;

/// Parses a point in either form. Returns null if the point does not lie on the curve.
Key parse_point(ByteView point);
Point compress(const Key& key);

/// Returns errc{} if the 64 bytes are the key's signature of the digest.
errc verify(const Key& key, const Digest& digest, const std::uint8_t* signature);

/// Returns the key pair of a secret, or null if the secret is not a private key.
Key key_pair(const Secret& secret);
/// Returns the low-S signature.
std::array<std::uint8_t, 64> sign(const Key& key, const Digest& digest);

}  // namespace skua::atproto::p256

namespace skua::atproto {

/// The two curves of atproto (atproto.com/specs/cryptography).
enum class Curve : std::uint8_t { k256, p256 };

/// A public key as a compressed point: 02 or 03, then x. Parsing checks only the form.
/// `VerifyingKey` checks that the point lies on the curve.
struct Multikey {
  Curve curve = Curve::k256;
  std::array<std::uint8_t, 33> point{};

  /// Reads `z` and the base58btc form of the multicodec (K-256 E7 01, P-256 80 24) and the point.
  /// The publicKeyMultibase of a verification method of type Multikey has this form.
  static Result<Multikey> parse(std::string_view text);
  /// Reads `did:key:` and a multikey.
  static Result<Multikey> parse_did_key(std::string_view did);

  std::string to_string() const;
  std::string to_did_key() const;

  friend bool operator==(const Multikey&, const Multikey&) = default;
};

/// Base58 with Bitcoin's alphabet, without a multibase prefix. Decoding accepts at most 256
/// characters, because its time grows with the square of the length. It returns nothing if the text
/// is longer or has a character outside of the alphabet.
std::string encode_base58(ByteView bytes);
std::optional<Bytes> decode_base58(std::string_view text);

/// An ECDSA signature over SHA-256 in atproto's form (atproto.com/specs/cryptography): r and s as
/// 32 big-endian bytes each, with s in the lower half of its range.
using Signature = std::array<std::uint8_t, 64>;

/// A parsed public key. Parsing takes a sixth of the time of a check, so a caller with several
/// checks keeps the key. Cheap to copy; any number of threads.
class VerifyingKey {
 public:
  /// Returns an error if the point is not on the curve.
  static Result<VerifyingKey> from_multikey(const Multikey& key);

  /// Makes a key from a compressed (33 bytes) or uncompressed (65 bytes) point. Verification
  /// methods older than Multikey have such points without a prefix for the curve. Returns an error
  /// if the point is not on the curve.
  static Result<VerifyingKey> from_point(Curve curve, ByteView point);

  /// Hashes a message and checks its signature. Errors: bad_signature_form, high_s_signature,
  /// wrong_signature.
  Result<void> verify(ByteView message, ByteView signature) const;

  Curve curve() const;
  Multikey multikey() const;

 private:
  struct Impl;
  explicit VerifyingKey(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

/// Checks a signature with a key that is used for one check only. Errors: those of
/// `VerifyingKey::from_multikey` and `VerifyingKey::verify`.
Result<void> verify_signature(const Multikey& key, ByteView message, ByteView signature);

/// A private key for tests and the simulator, because an indexer never signs. Cheap to copy; any
/// number of threads.
class SigningKey {
 public:
  /// Returns an error if the number is zero or not below the order of the curve.
  static Result<SigningKey> from_bytes(Curve curve, const std::array<std::uint8_t, 32>& secret);

  Multikey public_key() const;

  /// Hashes and signs a message. K-256 returns the same signature each time (RFC 6979); P-256 does
  /// not. Throws if the cryptographic library fails.
  Signature sign(ByteView message) const;

 private:
  struct Impl;
  explicit SigningKey(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace skua::atproto
