#pragma once

#include <optional>
#include <string_view>

#include "base/bytes.hpp"

namespace skua::event {

/// The bytes of base64 text, with or without padding; nothing if the text is not base64.
std::optional<Bytes> parse_base64(std::string_view text);

}  // namespace skua::event
