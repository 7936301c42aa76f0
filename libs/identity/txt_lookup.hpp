#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace skua::identity {

/// Gives the texts of a name's DNS TXT records, each with its parts joined, in no order; none: the
/// name does not exist or has no such record. Blocks. Error: dns_failed, when that is not known.
using TxtLookup = std::function<Result<std::vector<std::string>>(const std::string& name)>;

/// The name server to ask, over UDP and, for answers that do not fit, TCP.
struct DnsServer {
  /// An IPv4 or IPv6 address; empty: those of /etc/resolv.conf.
  std::string address;
  std::uint16_t port = 53;
};

/// Reads `ADDRESS` or `ADDRESS:PORT`, an IPv6 address in brackets where a port follows. Nothing: it
/// is neither.
std::optional<DnsServer> parse_dns_server(std::string_view text);

/// How long a look-up may take.
struct DnsPatience {
  /// For the first answer of a server; each further round waits twice as long.
  std::chrono::milliseconds first_wait = std::chrono::seconds(3);
  /// How often each server is asked that is silent or answers with an error of its own.
  int tries = 2;
  /// For the whole look-up, over all servers.
  std::chrono::milliseconds total = std::chrono::seconds(10);
};

/// Asks DNS through c-ares. Any thread, each call on its own, with sockets of its own; it blocks
/// for `patience.total` at most. A name that DNS cannot express (too long) has no records. An
/// address that is none: dns_failed.
TxtLookup dns_txt_lookup(const DnsServer& server = {}, const DnsPatience& patience = {});

}  // namespace skua::identity
