#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "accounts/network_accounts.hpp"
#include "identity/txt_lookup.hpp"
#include "settings.hpp"
#include "store/repository_table.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::cli {

/// The verification flags; nothing for a flag that was not given.
struct VerificationFlags {
  std::optional<std::string> verify;
  std::optional<std::string> plc;
  std::optional<std::string> ca_file;
  std::optional<std::string> resync;
  std::optional<std::string> handles;
  std::optional<std::string> dns;
  bool allow_private_hosts = false;
};

/// `--verify full|signature|none`; nothing: none. Full by default.
std::optional<verify::Level> verify_level(const Settings& settings, const VerificationFlags& flags);

/// The value of `--verify` for a level: full, signature or none.
std::string_view verify_name(const std::optional<verify::Level>& level);

/// `--resync complete|all`. Complete by default.
store::Resync resync(const Settings& settings, const VerificationFlags& flags);

/// `--plc`, or the default directory. Throws UsageError if it is not a URL.
std::string plc_url(const Settings& settings, const std::optional<std::string>& flag);

/// `--ca-file`; empty: none. Throws UsageError if it cannot be used.
std::string ca_file(const Settings& settings, const std::optional<std::string>& flag);

/// `--plc`, `--ca-file`, `--allow-private-hosts`.
accounts::NetworkAccountsOptions network_accounts(const Settings& settings,
                                                  const VerificationFlags& flags);

/// The documents of `--did-docs`. Throws UsageError if the file cannot be used.
std::unique_ptr<accounts::DocumentAccounts> document_accounts(const std::string& file);

/// `--dns ADDRESS[:PORT]`; the system's by default.
identity::DnsServer dns_server(const Settings& settings, const std::optional<std::string>& flag);

/// `--handles checked|claimed`: the DNS server for handle look-ups; nothing: handles are not
/// checked. The default is checked if commits are verified.
std::optional<identity::DnsServer> handle_checks(const Settings& settings,
                                                 const VerificationFlags& flags);

/// The level of verification, for people: "signatures and operations".
std::string verify_text(const std::optional<verify::Level>& level);

}  // namespace skua::cli
