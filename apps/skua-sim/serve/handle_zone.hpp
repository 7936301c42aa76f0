#pragma once

#include "dns_message.hpp"
#include "world/network.hpp"

namespace skua::sim {

/// What DNS says of the network's handles (atproto.com/specs/handle, DNS TXT method): the name
/// `_atproto.HANDLE` exists while the handle leads to an account, and has one TXT record,
/// `did=DID`. Whatever else is asked for does not exist; not even the names above, as in a real
/// zone they would: nobody asks for them. A query with a verdict gets that. On the network's
/// thread.
DnsAnswer answer_from_handles(const DnsQuery& query, const Network& network);

}  // namespace skua::sim
