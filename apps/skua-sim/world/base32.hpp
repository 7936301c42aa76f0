#pragma once

#include <string>

#include "base/bytes.hpp"

namespace skua::sim {

/// Lower-case base32 (RFC 4648) without padding.
std::string base32(ByteView bytes);

}  // namespace skua::sim
