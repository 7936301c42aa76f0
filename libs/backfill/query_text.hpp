#pragma once

#include <string>
#include <string_view>

namespace skua::backfill {

/// A text as the value of a query parameter (RFC 3986): all but letters, digits and `-._~:` is
/// escaped.
std::string query_text(std::string_view text);

}  // namespace skua::backfill
