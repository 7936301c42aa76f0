#pragma once

#include <string>
#include <string_view>

namespace skua::event {

/// Appends the content of a JSON string (the bytes between its quotes) with its escapes resolved
/// (RFC 8259 section 7). False: an invalid escape, half a surrogate pair, or a control character.
bool append_unescaped(std::string& out, std::string_view content);

}  // namespace skua::event
