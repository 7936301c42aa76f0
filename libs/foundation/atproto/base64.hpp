#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"

namespace skua::atproto {

/// Appends bytes in base64 (RFC 4648, section 4) without padding, as the JSON form of the data
/// model requires. Accepts at most 1 GiB.
void append_base64(std::string& out, ByteView bytes);

/// Reads base64 with or without padding. Returns nothing if the text is not base64. Ignores the
/// bits that remain in the last character.
std::optional<Bytes> parse_base64(std::string_view text);

}  // namespace skua::atproto
