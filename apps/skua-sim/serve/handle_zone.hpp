#pragma once

#include "serve/dns_message.hpp"
#include "world/network.hpp"

namespace skua::sim {

/// The DNS records of the network's handles (atproto.com/specs/handle, DNS TXT method): the name
/// `_atproto.HANDLE` exists while the handle leads to an account, and has one TXT record,
/// `did=DID`. No other name exists. In a real zone the parent names would exist too, but no client
/// asks for them. A query with a verdict gets this verdict. On the network's thread.
DnsAnswer answer_from_handles(const DnsQuery& query, const Network& network);

}  // namespace skua::sim
