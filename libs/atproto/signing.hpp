#pragma once

#include <array>
#include <memory>

#include "atproto/multikey.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace skua::atproto {

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
