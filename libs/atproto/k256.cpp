#include "atproto/k256.hpp"

#include <stdexcept>

namespace skua::atproto::k256 {
namespace {

/// One context for all threads: after its creation it is only read.
const secp256k1_context* context() {
  static const secp256k1_context* const made = secp256k1_context_create(SECP256K1_CONTEXT_NONE);
  return made;
}

}  // namespace

std::optional<secp256k1_pubkey> parse_point(ByteView point) {
  secp256k1_pubkey key;
  if (secp256k1_ec_pubkey_parse(context(), &key, point.data(), point.size()) != 1) {
    return std::nullopt;
  }
  return key;
}

Point compress(const secp256k1_pubkey& key) {
  Point point{};
  std::size_t size = point.size();
  secp256k1_ec_pubkey_serialize(context(), point.data(), &size, &key, SECP256K1_EC_COMPRESSED);
  return point;
}

errc verify(const secp256k1_pubkey& key, const Digest& digest, const std::uint8_t* signature) {
  secp256k1_ecdsa_signature parsed;
  if (secp256k1_ecdsa_signature_parse_compact(context(), &parsed, signature) != 1) {
    return errc::wrong_signature;
  }
  if (secp256k1_ecdsa_signature_normalize(context(), nullptr, &parsed) == 1) {
    return errc::high_s_signature;
  }
  return secp256k1_ecdsa_verify(context(), &parsed, digest.data(), &key) == 1
             ? errc{}
             : errc::wrong_signature;
}

std::optional<secp256k1_pubkey> public_key(const Secret& secret) {
  secp256k1_pubkey key;
  if (secp256k1_ec_pubkey_create(context(), &key, secret.data()) != 1) return std::nullopt;
  return key;
}

std::array<std::uint8_t, 64> sign(const Secret& secret, const Digest& digest) {
  secp256k1_ecdsa_signature signature;
  if (secp256k1_ecdsa_sign(context(), &signature, digest.data(), secret.data(), nullptr, nullptr) !=
      1) {
    throw std::runtime_error("libsecp256k1 could not sign");
  }
  std::array<std::uint8_t, 64> compact{};
  secp256k1_ecdsa_signature_serialize_compact(context(), compact.data(), &signature);
  return compact;
}

}  // namespace skua::atproto::k256
