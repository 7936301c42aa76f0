#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "transport/http_client.hpp"

namespace skua::documents {

/// Returns the texts of a name's DNS TXT records, in any order. The parts of each record are
/// joined. The result is empty if the name does not exist or has no such record. Blocks. Error:
/// dns_failed, if DNS does not tell.
using TxtLookup = std::function<Result<std::vector<std::string>>(const std::string& name)>;

/// The name server to ask, over UDP and, for answers that are too large for UDP, over TCP.
struct DnsServer {
  /// An IPv4 or IPv6 address. If empty, the servers of /etc/resolv.conf are asked.
  std::string address;
  std::uint16_t port = 53;
};

/// Reads `ADDRESS` or `ADDRESS:PORT`. An IPv6 address before a port has brackets. Returns nothing
/// for a text of another form.
std::optional<DnsServer> parse_dns_server(std::string_view text);

/// The time limits of a look-up.
struct DnsTimeouts {
  /// The wait for the first answer of a server. Each further round waits twice as long.
  std::chrono::milliseconds first_wait = std::chrono::seconds(3);
  /// The number of requests to a server that is silent or answers with a server error.
  int tries = 2;
  /// The limit for the whole look-up, over all servers.
  std::chrono::milliseconds total = std::chrono::seconds(10);
};

/// Returns a look-up that asks DNS through c-ares. Any thread may call it. Each call has its own
/// sockets and blocks for `timeouts.total` at most. A name that DNS cannot express (too long) has
/// no records. If the server's address is invalid, the error is dns_failed.
TxtLookup dns_txt_lookup(const DnsServer& server = {}, const DnsTimeouts& timeouts = {});

/// Finds the DID of a handle (atproto.com/specs/handle): the TXT record `did=...` of
/// `_atproto.<handle>`, or else the text at `https://<handle>/.well-known/atproto-did`. Blocks. Any
/// thread except the HTTP client's. The client must outlive this object.
class HandleCheck {
 public:
  /// Hosts are asked on `https_port`. Only tests use another port than 443.
  HandleCheck(transport::HttpClient& http, TxtLookup txt, std::uint16_t https_port = 443);

  /// Returns the DID of a handle. Errors: handle_syntax, handle_not_found (both ways find none),
  /// handle_ambiguous, dns_failed, or an error of HTTP. If DNS fails, the host is asked
  /// nevertheless. If the host names no DID, the error is dns_failed, because DNS may name one.
  Result<std::string> resolve(std::string_view handle) const;

  /// Checks that the handle that a DID's document claims leads back to the DID. Errors: those of
  /// `resolve`, and handle_of_other.
  Result<void> verify(std::string_view did, std::string_view handle) const;

 private:
  Result<std::string> ask_dns(const std::string& handle) const;
  Result<std::string> ask_host(const std::string& handle) const;

  transport::HttpClient& http_;
  const TxtLookup txt_;
  const std::uint16_t https_port_;
};

}  // namespace skua::documents
