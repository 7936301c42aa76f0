#pragma once

#include "serve/dns_message.hpp"
#include "world/network.hpp"

namespace skua::sim {

/// Returns the DNS records of the network's handles (atproto.com/specs/handle, DNS TXT method): the
/// name `_atproto.HANDLE` exists while the handle resolves to an account, and has one TXT record,
/// `did=DID`. No other name exists. In a real zone the parent names would exist too, but no client
/// requests them. A query with an error verdict gets this verdict. To be called on the network's
/// thread.
DnsAnswer answer_from_handles(const DnsQuery& query, const Network& network);

}  // namespace skua::sim
