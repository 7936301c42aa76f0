#pragma once

#include <cstddef>
#include <string>

#include "base/bytes.hpp"

namespace skua {

/// Returns bytes of the system's random source, for secrets and tokens. Any thread.
Bytes random_bytes(std::size_t count);

/// Returns 128 random bits as 22 characters of base64url, which are unique among all processes and
/// machines.
std::string random_token();

}  // namespace skua
