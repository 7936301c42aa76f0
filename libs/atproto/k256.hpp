#pragma once

#include <array>
#include <optional>

#include <secp256k1.h>

#include "atproto/errc.hpp"
#include "atproto/sha256.hpp"
#include "base/bytes.hpp"

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
