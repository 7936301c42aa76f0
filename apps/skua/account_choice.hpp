#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "identity/txt_lookup.hpp"
#include "settings.hpp"
#include "transport/http_client.hpp"
#include "verification.hpp"

namespace skua::cli {

/// The forms of an account argument, for help.
inline constexpr const char* kAccountForms =
    "DID, handle, at:// URI or https://bsky.app URL of an account or record";

/// The accounts of a command line before their look-up.
struct AccountChoice {
  /// DIDs, and handles in lower case.
  std::vector<std::string> names;
  /// For the look-up of handles.
  transport::HttpClientOptions http;
  identity::DnsServer dns;
};

/// Reads arguments, and files of accounts with one per line. `file_flag`: the flag that named the
/// files. Makes no request. Throws UsageError if a file cannot be read, if an argument or line is
/// not an account, or if a network setting is malformed.
AccountChoice account_choice(const Settings& settings, const VerificationFlags& verification,
                             const std::vector<std::string>& who,
                             const std::vector<std::string>& files,
                             const std::string& file_flag = "--file");

/// The DIDs of these accounts: looks handles up. Handles that do not resolve are printed and
/// counted in `problems`.
std::vector<std::string> look_up(const AccountChoice& accounts, std::size_t& problems);

}  // namespace skua::cli
