#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.hpp"

namespace skua::atproto {

using Digest = std::array<std::uint8_t, 32>;

/// Computes SHA-256 with the low-level OpenSSL functions. The EVP functions fetch their
/// implementation on each use and take nearly twice as long on blocks of the network's size.
Digest sha256(ByteView data);

/// Whether two digests of secrets are equal. The time does not depend on their content
/// (CRYPTO_memcmp).
bool is_same_secret(const Digest& one, const Digest& other);

/// HMAC-SHA256 (RFC 2104) of `data`.
Digest hmac_sha256(ByteView key, ByteView data);

}  // namespace skua::atproto
