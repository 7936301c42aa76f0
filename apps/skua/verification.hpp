#pragma once

#include <memory>
#include <optional>
#include <string>

#include "accounts/account_source.hpp"
#include "identity/txt_lookup.hpp"
#include "settings.hpp"
#include "store/repository_table.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::cli {

/// What the command line gave of verification; nothing where a flag was not given.
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

/// `--resync complete|all`. Complete by default.
store::Resync resync(const Settings& settings, const VerificationFlags& flags);

/// `--plc`, or the directory of the network. UsageError when it is no URL.
std::string plc_url(const Settings& settings, const std::optional<std::string>& flag);

/// `--ca-file`; empty: none. UsageError when it cannot be used.
std::string ca_file(const Settings& settings, const std::optional<std::string>& flag);

/// `--plc`, `--ca-file`, `--allow-private-hosts`.
accounts::NetworkAccountsOptions network_accounts(const Settings& settings,
                                                  const VerificationFlags& flags);

/// The documents of `--did-docs`. UsageError when the file cannot be used.
std::unique_ptr<accounts::DocumentAccounts> document_accounts(const std::string& file);

/// `--dns ADDRESS[:PORT]`; the system's by default.
identity::DnsServer dns_server(const Settings& settings, const std::optional<std::string>& flag);

/// `--handles checked|claimed`: where handles are looked up; nothing: they are not. Checked by
/// default, where commits are verified.
std::optional<identity::DnsServer> handle_checks(const Settings& settings,
                                                 const VerificationFlags& flags);

/// What is verified, for people: "signatures and operations".
std::string verify_text(const std::optional<verify::Level>& level);

}  // namespace skua::cli
