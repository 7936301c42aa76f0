#include "atproto/hmac.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace skua::atproto {

Digest hmac_sha256(ByteView key, ByteView data) {
  Digest digest{};
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), data.data(), data.size(),
       digest.data(), nullptr);
  return digest;
}

}  // namespace skua::atproto
