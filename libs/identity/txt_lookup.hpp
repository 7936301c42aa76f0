#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace skua::identity {

/// Gives the texts of a name's DNS TXT records, each with its parts joined; none: the name has no
/// such record. Blocks. Error: dns_failed.
using TxtLookup = std::function<Result<std::vector<std::string>>(const std::string& name)>;

struct DnsServer {
  /// An IPv4 address; empty: those of /etc/resolv.conf.
  std::string address;
  std::uint16_t port = 53;
};

/// Asks DNS through the C library's resolver, `tries` times with `timeout` each (whole seconds).
/// Any thread, each call on its own.
TxtLookup dns_txt_lookup(const DnsServer& server = {},
                         std::chrono::seconds timeout = std::chrono::seconds(3), int tries = 2);

}  // namespace skua::identity
