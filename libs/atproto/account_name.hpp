#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skua::atproto {

/// Reads the account that a person names: a DID, a handle, `@handle`, an AT-URI
/// (`at://AUTHORITY[/COLLECTION[/RKEY]]`, a record names its account), or the URL of a profile,
/// post, feed, list or starter pack at https://bsky.app. Gives the DID, or the handle in lower
/// case. Errors: bad_account_name, and those of check_account_did for a DID of no account.
Result<std::string> parse_account_name(std::string_view text);

}  // namespace skua::atproto
