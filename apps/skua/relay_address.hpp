#pragma once

#include <optional>
#include <string>
#include <vector>

#include "settings.hpp"
#include "transport/endpoint.hpp"

namespace skua::cli {

/// The relay a setting names, else UsageError naming where it stood.
transport::Endpoint relay_address(const Found& found);

/// The origin of the HTTP interface at an address, such as `https://relay.example`.
std::string http_origin(transport::Endpoint endpoint);

/// What flags name, or else a setting, which has spaces between several; none: empty.
std::vector<Found> all_of(const Settings& settings, const Setting& setting,
                          const std::vector<std::string>& flags);

/// The relays that flags or a setting name.
std::vector<Found> relays(const Settings& settings, const std::vector<std::string>& flags);

/// The first of them, else UsageError, saying where to put one.
Found first_relay(const Settings& settings, const std::optional<std::string>& flag);

}  // namespace skua::cli
