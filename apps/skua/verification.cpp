#include "verification.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "input_file.hpp"
#include "transport/ca_file.hpp"
#include "transport/endpoint.hpp"

namespace skua::cli {

std::optional<verify::Level> verify_level(const Settings& settings,
                                          const VerificationFlags& flags) {
  const auto found = settings.find(kVerify, flags.verify);
  if (!found || found->value == "full") return verify::Level::Full;
  if (found->value == "signature") return verify::Level::Signature;
  if (found->value == "none") return std::nullopt;
  throw UsageError(
      fmt::format("{}: '{}' is not one of full, signature, none", found->origin, found->value));
}

std::string_view verify_name(const std::optional<verify::Level>& level) {
  if (!level) return "none";
  return *level == verify::Level::Full ? "full" : "signature";
}

store::Resync resync(const Settings& settings, const VerificationFlags& flags) {
  const auto found = settings.find(kResync, flags.resync);
  if (!found || found->value == "complete") return store::Resync::Complete;
  if (found->value == "all") return store::Resync::All;
  throw UsageError(
      fmt::format("{}: '{}' is neither complete nor all", found->origin, found->value));
}

std::string plc_url(const Settings& settings, const std::optional<std::string>& flag) {
  const auto found = settings.find(kPlc, flag);
  if (!found) return accounts::NetworkAccountsOptions().plc_url;
  if (const auto url = transport::parse_http_url(found->value); !url) {
    throw UsageError(fmt::format("{}: '{}': {}; expected a URL such as https://plc.directory",
                                 found->origin, found->value, url.error().message()));
  }
  return found->value;
}

std::string ca_file(const Settings& settings, const std::optional<std::string>& flag) {
  const auto found = settings.find(kCaFile, flag);
  if (!found) return {};
  require_file(found->origin, found->value);
  try {
    transport::check_ca_file(found->value);
  } catch (const std::runtime_error& error) {
    throw UsageError(
        fmt::format("{}: {}; expected certificates in PEM form", found->origin, error.what()));
  }
  return found->value;
}

std::unique_ptr<accounts::DocumentAccounts> document_accounts(const std::string& file) {
  require_file("--did-docs", file);
  try {
    return std::make_unique<accounts::DocumentAccounts>(file);
  } catch (const std::runtime_error& error) {
    throw UsageError(fmt::format("--did-docs: {}", error.what()));
  }
}

accounts::NetworkAccountsOptions network_accounts(const Settings& settings,
                                                  const VerificationFlags& flags) {
  accounts::NetworkAccountsOptions accounts;
  accounts.plc_url = plc_url(settings, flags.plc);
  accounts.ca_file = ca_file(settings, flags.ca_file);
  accounts.allow_private_hosts =
      flags.allow_private_hosts || yes(settings.find(kAllowPrivateHosts, std::nullopt));
  return accounts;
}

identity::DnsServer dns_server(const Settings& settings, const std::optional<std::string>& flag) {
  const auto found = settings.find(kDns, flag);
  if (!found) return {};
  const auto server = identity::parse_dns_server(found->value);
  if (!server) {
    throw UsageError(
        fmt::format("{}: '{}': expected the IP address of a DNS server, ADDRESS or "
                    "ADDRESS:PORT",
                    found->origin, found->value));
  }
  return *server;
}

std::optional<identity::DnsServer> handle_checks(const Settings& settings,
                                                 const VerificationFlags& flags) {
  const auto found = settings.find(kHandles, flags.handles);
  if (found && found->value != "checked" && found->value != "claimed") {
    throw UsageError(
        fmt::format("{}: '{}' is neither checked nor claimed", found->origin, found->value));
  }
  const bool is_wanted = !found || found->value == "checked";
  if (!is_wanted || !verify_level(settings, flags)) return std::nullopt;
  return dns_server(settings, flags.dns);
}

std::string verify_text(const std::optional<verify::Level>& level) {
  if (!level) return "not verified: signatures are not checked";
  return *level == verify::Level::Full ? "verifying signatures and operations"
                                       : "verifying signatures alone";
}

}  // namespace skua::cli
