#pragma once

#include <boost/asio/ip/address.hpp>

namespace skua::transport {

/// Whether an address lies in the public internet, by the registries of special-purpose addresses
/// (RFC 6890 and what IANA added since). False for loopback, private, link-local (where clouds
/// answer with their secrets), shared (100.64/10), multicast, unspecified, reserved, benchmark and
/// documentation addresses, and for IPv6 addresses that carry such an IPv4 address inside (mapped,
/// compatible, NAT64, 6to4) or that nobody has been given yet. Pure; any thread.
///
/// Names that the network gives us (documents, handles, host lists) are hostile: HttpClient asks
/// this about the address that it is going to connect to, after looking the name up.
bool is_public(const boost::asio::ip::address& address);

}  // namespace skua::transport
