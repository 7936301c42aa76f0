#pragma once

#include "atproto/sha256.hpp"
#include "base/bytes.hpp"

namespace skua::atproto {

/// HMAC-SHA256 (RFC 2104) of `data`.
Digest hmac_sha256(ByteView key, ByteView data);

}  // namespace skua::atproto
