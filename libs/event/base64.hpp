#pragma once

#include <optional>
#include <string_view>

#include "base/bytes.hpp"

namespace skua::event {

/// Bytes in base64, with or without padding; nothing when it is none.
std::optional<Bytes> parse_base64(std::string_view text);

}  // namespace skua::event
