#include "atproto/sha256.hpp"

#include <algorithm>
#include <cstddef>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

namespace skua::atproto {

namespace {

/// The largest number of bytes that fit into one block of SHA-256 with its padding.
constexpr std::size_t kOneBlock = SHA_CBLOCK - 9;

/// Adds the padding here, because OpenSSL's functions around a single block take longer than the
/// block itself.
Digest sha256_of_one_block(ByteView data) {
  std::array<std::uint8_t, SHA_CBLOCK> block{};
  *std::copy(data.begin(), data.end(), block.begin()) = 0x80;
  block[SHA_CBLOCK - 2] = static_cast<std::uint8_t>(data.size() >> 5U);
  block[SHA_CBLOCK - 1] = static_cast<std::uint8_t>(data.size() << 3U);
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Transform(&context, block.data());
  Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(context.h[i / 4] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

}  // namespace

Digest sha256(ByteView data) {
  if (data.size() <= kOneBlock) return sha256_of_one_block(data);
  Digest digest;
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, data.data(), data.size());
  SHA256_Final(digest.data(), &context);
  return digest;
}

bool is_same_secret(const Digest& one, const Digest& other) {
  return CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

Digest hmac_sha256(ByteView key, ByteView data) {
  Digest digest{};
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), data.data(), data.size(),
       digest.data(), nullptr);
  return digest;
}

}  // namespace skua::atproto
