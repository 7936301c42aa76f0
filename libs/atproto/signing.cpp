#include "atproto/signing.hpp"

#include <utility>
#include <variant>

#include "atproto/errc.hpp"
#include "atproto/k256.hpp"
#include "atproto/p256.hpp"
#include "atproto/sha256.hpp"

namespace skua::atproto {

struct VerifyingKey::Impl {
  std::variant<secp256k1_pubkey, p256::Key> key;
};

struct SigningKey::Impl {
  Multikey public_key;
  std::variant<k256::Secret, p256::Key> key;
};

Result<VerifyingKey> VerifyingKey::from_multikey(const Multikey& key) {
  return from_point(key.curve, key.point);
}

Result<VerifyingKey> VerifyingKey::from_point(Curve curve, ByteView point) {
  // Both libraries would also take the hybrid form (06, 07).
  const bool compressed = point.size() == 33 && (point[0] == 2 || point[0] == 3);
  const bool whole = point.size() == 65 && point[0] == 4;
  if (!compressed && !whole) return errc::bad_key;
  if (curve == Curve::k256) {
    const auto key = k256::parse_point(point);
    if (!key) return errc::bad_key;
    return VerifyingKey(std::make_shared<const Impl>(Impl{*key}));
  }
  auto key = p256::parse_point(point);
  if (!key) return errc::bad_key;
  return VerifyingKey(std::make_shared<const Impl>(Impl{std::move(key)}));
}

Result<void> VerifyingKey::verify(ByteView message, ByteView signature) const {
  if (signature.size() != Signature().size()) return errc::bad_signature_form;
  const Digest digest = sha256(message);
  const auto* k256_key = std::get_if<secp256k1_pubkey>(&impl_->key);
  const errc verdict =
      k256_key != nullptr ? k256::verify(*k256_key, digest, signature.data())
                          : p256::verify(std::get<p256::Key>(impl_->key), digest, signature.data());
  if (verdict != errc{}) return verdict;
  return {};
}

Result<void> verify_signature(const Multikey& key, ByteView message, ByteView signature) {
  const auto parsed = VerifyingKey::from_multikey(key);
  if (!parsed) return parsed.error();
  return parsed->verify(message, signature);
}

Curve VerifyingKey::curve() const {
  return std::holds_alternative<secp256k1_pubkey>(impl_->key) ? Curve::k256 : Curve::p256;
}

Multikey VerifyingKey::multikey() const {
  if (const auto* key = std::get_if<secp256k1_pubkey>(&impl_->key)) {
    return {Curve::k256, k256::compress(*key)};
  }
  return {Curve::p256, p256::compress(std::get<p256::Key>(impl_->key))};
}

Result<SigningKey> SigningKey::from_bytes(Curve curve, const std::array<std::uint8_t, 32>& secret) {
  if (curve == Curve::k256) {
    const auto key = k256::public_key(secret);
    if (!key) return errc::bad_key;
    return SigningKey(
        std::make_shared<const Impl>(Impl{{Curve::k256, k256::compress(*key)}, secret}));
  }
  auto key = p256::key_pair(secret);
  if (!key) return errc::bad_key;
  const Multikey public_key{Curve::p256, p256::compress(key)};
  return SigningKey(std::make_shared<const Impl>(Impl{public_key, std::move(key)}));
}

Multikey SigningKey::public_key() const {
  return impl_->public_key;
}

Signature SigningKey::sign(ByteView message) const {
  const Digest digest = sha256(message);
  if (const auto* secret = std::get_if<k256::Secret>(&impl_->key)) {
    return k256::sign(*secret, digest);
  }
  return p256::sign(std::get<p256::Key>(impl_->key), digest);
}

}  // namespace skua::atproto
