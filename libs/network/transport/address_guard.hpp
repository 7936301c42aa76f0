#pragma once

#include <functional>
#include <string>
#include <vector>

#include <boost/asio/ip/address.hpp>

#include "base/result.hpp"

namespace skua::transport {

/// Returns the IP addresses of a host name as text, the preferred address first. May block. Errors:
/// host_not_found, host_lookup_failed.
using HostLookup = std::function<Result<std::vector<std::string>>(const std::string& host)>;

/// Looks a name up as the system does (hosts file, DNS).
Result<std::vector<std::string>> look_up_host(const std::string& host);

/// Whether an address belongs to the public internet, by the registries of special-purpose
/// addresses (RFC 6890 and later IANA entries). False for loopback, private, link-local (clouds
/// serve secrets there), shared (100.64/10), multicast, unspecified, reserved, benchmark and
/// documentation addresses. Also false for IPv6 addresses that contain such an IPv4 address
/// (mapped, compatible, NAT64, 6to4) or are unassigned. Pure; any thread.
///
/// Names that come from the network (documents, handles, host lists) are hostile. HttpClient looks
/// up the name, and checks the address that it connects to with this function.
bool is_public(const boost::asio::ip::address& address);

}  // namespace skua::transport
