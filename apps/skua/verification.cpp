#include "verification.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "transport/endpoint.hpp"

namespace skua::cli {

std::optional<verify::Level> verify_level(const Settings& settings,
                                          const VerificationFlags& flags) {
  const auto found = settings.find(kVerify, flags.verify);
  if (!found || found->value == "full") return verify::Level::Full;
  if (found->value == "signature") return verify::Level::Signature;
  if (found->value == "none") return std::nullopt;
  throw UsageError(
      fmt::format("{}: '{}' is none of full, signature, none", found->origin, found->value));
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
  if (!found) return identity::DidResolverOptions().plc_url;
  if (const auto url = transport::parse_http_url(found->value); !url) {
    throw UsageError(
        fmt::format("{}: '{}': {}", found->origin, found->value, url.error().message()));
  }
  return found->value;
}

app::NetworkAccountsOptions network_accounts(const Settings& settings,
                                             const VerificationFlags& flags) {
  app::NetworkAccountsOptions accounts;
  accounts.plc_url = plc_url(settings, flags.plc);
  if (const auto file = settings.find(kCaFile, flags.ca_file)) accounts.ca_file = file->value;
  accounts.allow_private_hosts =
      flags.allow_private_hosts || yes(settings.find(kAllowPrivateHosts, std::nullopt));
  return accounts;
}

identity::DnsServer dns_server(const Settings& settings, const std::optional<std::string>& flag) {
  identity::DnsServer server;
  const auto found = settings.find(kDns, flag);
  if (!found) return server;
  const auto colon = found->value.find(':');
  server.address = found->value.substr(0, colon);
  if (colon != std::string::npos) {
    const auto port = whole_number({found->value.substr(colon + 1), found->origin}, 1, 65'535);
    server.port = static_cast<std::uint16_t>(port);
  }
  return server;
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

std::string verify_words(const std::optional<verify::Level>& level) {
  if (!level) return "not verified: signatures are not checked";
  return *level == verify::Level::Full ? "verifying signatures and operations"
                                       : "verifying signatures alone";
}

}  // namespace skua::cli
