#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "accounts/network_accounts.hpp"
#include "documents/handle_check.hpp"
#include "invocation.hpp"
#include "settings.hpp"
#include "transport/http_client.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::cli {

// The functions read the accounts that a command line names, and choose the source of their
// documents, keys and handles.

/// The accounts of a command line before their look-up.
struct AccountChoice {
  /// DIDs, and handles in lower case.
  std::vector<std::string> names;
  /// The client options for looking handles up.
  transport::HttpClientOptions http;
  documents::DnsServer dns;
};

/// Reads arguments, and files of accounts with one account per line. `file_flag` is the flag that
/// named the files. Makes no request. Throws UsageError if a file cannot be read, if an argument or
/// line is not an account, or if a network setting is malformed.
AccountChoice account_choice(const Invocation& invocation, const std::vector<std::string>& who,
                             const std::vector<std::string>& files = {},
                             const std::string& file_flag = "--file");

/// Returns the DIDs of the accounts, and looks handles up. A handle that does not resolve is
/// printed and counted in `problems`.
std::vector<std::string> look_up(const AccountChoice& accounts, std::size_t& problems);

/// Reads `--plc`, `--ca-file` and `--allow-private-hosts`.
accounts::NetworkAccountsOptions network_accounts(const Invocation& invocation);

/// Reads the documents of `--did-docs`. Throws UsageError if the file cannot be used.
std::unique_ptr<accounts::DocumentAccounts> document_accounts(const std::string& file);

/// Reads `--handles checked|claimed`. Returns the DNS server for handle look-ups; nothing if
/// handles are not checked, because the user trusts the claims or commits are not verified.
std::optional<documents::DnsServer> handle_checks(const Invocation& invocation);

/// Returns the value of `--verify` for a level: full, signature or none.
std::string_view verify_name(const std::optional<verify::Level>& level);

/// Returns the level of verification as a text for people: "signatures and operations".
std::string verify_text(const std::optional<verify::Level>& level);

}  // namespace skua::cli
