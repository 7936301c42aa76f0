#pragma once

#include <array>
#include <memory>

#include <openssl/evp.h>

#include "atproto/errc.hpp"
#include "atproto/sha256.hpp"
#include "base/bytes.hpp"

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
