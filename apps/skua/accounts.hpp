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

// The accounts that a command line names, and where their documents, keys and handles come from.

/// The accounts of a command line before their look-up.
struct AccountChoice {
  /// DIDs, and handles in lower case.
  std::vector<std::string> names;
  /// For the look-up of handles.
  transport::HttpClientOptions http;
  documents::DnsServer dns;
};

/// Reads arguments, and files of accounts with one per line. `file_flag`: the flag that named the
/// files. Makes no request. Throws UsageError if a file cannot be read, if an argument or line is
/// not an account, or if a network setting is malformed.
AccountChoice account_choice(const Invocation& invocation, const std::vector<std::string>& who,
                             const std::vector<std::string>& files = {},
                             const std::string& file_flag = "--file");

/// The DIDs of these accounts: looks handles up. Handles that do not resolve are printed and
/// counted in `problems`.
std::vector<std::string> look_up(const AccountChoice& accounts, std::size_t& problems);

/// `--plc`, `--ca-file`, `--allow-private-hosts`.
accounts::NetworkAccountsOptions network_accounts(const Invocation& invocation);

/// The documents of `--did-docs`. Throws UsageError if the file cannot be used.
std::unique_ptr<accounts::DocumentAccounts> document_accounts(const std::string& file);

/// `--handles checked|claimed`: the DNS server for handle look-ups; nothing: handles are not
/// checked, because they or the commits need no verification.
std::optional<documents::DnsServer> handle_checks(const Invocation& invocation);

/// The value of `--verify` for a level: full, signature or none.
std::string_view verify_name(const std::optional<verify::Level>& level);

/// The level of verification, for people: "signatures and operations".
std::string verify_text(const std::optional<verify::Level>& level);

}  // namespace skua::cli
