// The low-level calls are deprecated in OpenSSL 3 and still the fastest: no fetch, no allocation.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "atproto/sha256.hpp"

#include <openssl/sha.h>

namespace skua::atproto {

Digest sha256(ByteView data) {
  Digest digest;
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, data.data(), data.size());
  SHA256_Final(digest.data(), &context);
  return digest;
}

}  // namespace skua::atproto
