#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "identity/account.hpp"

namespace skua::identity {

/// Reads the JSON text of the DID document of `did` (atproto.com/specs/did). Of several entries
/// with one id the first valid one counts: its type and value can be used, and its controller is
/// absent or the DID. A document needs a key and a host for a repository, or a key for labels.
/// Unknown fields are ignored. Errors: errc::document_...
Result<Account> parse_did_document(std::string_view json, std::string_view did);

/// The origin of a PDS as `Account::pds` has it, from a URL. Error: document_pds.
Result<std::string> pds_origin(std::string_view url);

/// The handle that `at://handle` names, in lower case; empty: none.
std::string handle_of_alias(std::string_view alias);

}  // namespace skua::identity
