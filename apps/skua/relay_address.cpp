#include "relay_address.hpp"

#include <sstream>

#include <fmt/format.h>

namespace skua::cli {

transport::Endpoint relay_address(const Found& found) {
  const auto endpoint = transport::parse_endpoint(found.value);
  if (endpoint.has_error()) {
    throw UsageError(fmt::format("{}: '{}': {}; an example is wss://relay1.us-east.bsky.network",
                                 found.origin, found.value, endpoint.error().message()));
  }
  return *endpoint;
}

std::string http_origin(transport::Endpoint endpoint) {
  endpoint.path.assign(1, '/');
  endpoint.query.clear();
  std::string origin = endpoint.http_url();
  origin.pop_back();  // the final slash
  return origin;
}

std::vector<Found> all_of(const Settings& settings, const Setting& setting,
                          const std::vector<std::string>& flags) {
  std::vector<Found> all;
  all.reserve(flags.size());
  for (const std::string& flag : flags) all.push_back({flag, setting.flag});
  if (!all.empty()) return all;
  const auto found = settings.find(setting, std::nullopt);
  if (!found) return all;
  std::istringstream words(found->value);
  for (std::string word; words >> word;) all.push_back({word, found->origin});
  return all;
}

std::vector<Found> relays(const Settings& settings, const std::vector<std::string>& flags) {
  return all_of(settings, kRelay, flags);
}

Found first_relay(const Settings& settings, const std::optional<std::string>& flag) {
  const auto all = relays(settings, flag ? std::vector{*flag} : std::vector<std::string>());
  return all.empty() ? settings.require(kRelay, flag, "wss://HOST") : all.front();
}

}  // namespace skua::cli
