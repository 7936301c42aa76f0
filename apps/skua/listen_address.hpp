#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "settings.hpp"

namespace skua::cli {

/// An IP address and a port.
struct ListenAddress {
  std::string address;
  /// 0: a free one.
  std::uint16_t port = 0;
  /// For people: `[::1]:2470`.
  std::string text() const;
};

/// Parses `127.0.0.1:2470`, `[::1]:2470`, `localhost:2470` or `:2470`. The last two mean 127.0.0.1.
/// Throws UsageError, which names the flag or setting.
ListenAddress listen_address(const Found& found);

/// The names of kHttpHost, in lower case. `flags`: of the command line. Throws UsageError, which
/// names the flag or setting, for one that is no host name.
std::vector<std::string> http_hosts(const Settings& settings,
                                    const std::vector<std::string>& flags);

}  // namespace skua::cli
