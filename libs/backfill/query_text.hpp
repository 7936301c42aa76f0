#pragma once

#include <string>
#include <string_view>

namespace skua::backfill {

/// Escapes a text for the value of a query parameter (RFC 3986): all characters except letters,
/// digits and `-._~:`.
std::string query_text(std::string_view text);

}  // namespace skua::backfill
