#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "identity/txt_lookup.hpp"
#include "settings.hpp"
#include "transport/http_client.hpp"
#include "verification.hpp"

namespace skua::cli {

/// What an argument that names an account may be, for help.
inline constexpr const char* kAccountForms =
    "DID, handle, at:// URI or https://bsky.app URL of an account or record";

/// Accounts that the command line names, read and not yet looked up.
struct AccountChoice {
  /// DIDs, and handles in lower case.
  std::vector<std::string> names;
  /// How handles are looked up.
  transport::HttpClientOptions http;
  identity::DnsServer dns;
};

/// Reads arguments, and files of accounts, one a line. `file_flag`: the flag that named the files.
/// Makes no request. UsageError when a file cannot be read, when anything in it or among the
/// arguments is not an account, and for malformed network settings.
AccountChoice account_choice(const Settings& settings, const VerificationFlags& verification,
                             const std::vector<std::string>& who,
                             const std::vector<std::string>& files,
                             const std::string& file_flag = "--file");

/// The DIDs of these accounts: looks handles up. Handles that lead nowhere are printed and counted
/// in `problems`; the others are in the result.
std::vector<std::string> look_up(const AccountChoice& accounts, std::size_t& problems);

}  // namespace skua::cli
