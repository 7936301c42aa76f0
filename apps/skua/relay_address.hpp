#pragma once

#include <optional>
#include <string>
#include <vector>

#include "settings.hpp"
#include "transport/endpoint.hpp"

namespace skua::cli {

/// The address of a relay. Throws UsageError, which names the flag or setting, if it is malformed.
transport::Endpoint relay_address(const Found& found);

/// The origin of the HTTP interface at an address, such as `https://relay.example`.
std::string http_origin(transport::Endpoint endpoint);

/// The values of the flags, otherwise of a setting, in which spaces separate them. May be empty.
std::vector<Found> all_of(const Settings& settings, const Setting& setting,
                          const std::vector<std::string>& flags);

/// The relays of flags or a setting.
std::vector<Found> relays(const Settings& settings, const std::vector<std::string>& flags);

/// The first of them. Throws UsageError with the flag and setting to use if there is none.
Found first_relay(const Settings& settings, const std::optional<std::string>& flag);

}  // namespace skua::cli
