#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skua::atproto {

/// Reads the account that a person names: a DID, a handle, `@handle`, an AT-URI
/// (`at://AUTHORITY[/COLLECTION[/RKEY]]`, a record names its account), or the URL of a profile,
/// post, feed, list or starter pack at https://bsky.app. Gives the DID, or the handle in lower
/// case. Error: bad_account_name.
Result<std::string> parse_account_name(std::string_view text);

}  // namespace skua::atproto
