#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace skua::transport {

/// Returns the IP addresses of a host name, in text, the preferred first. May block. Errors:
/// host_not_found, host_lookup_failed.
using HostLookup = std::function<Result<std::vector<std::string>>(const std::string& host)>;

/// The system's look-up (hosts file, DNS).
Result<std::vector<std::string>> look_up_host(const std::string& host);

}  // namespace skua::transport
