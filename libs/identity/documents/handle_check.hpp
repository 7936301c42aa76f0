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
struct DnsTimeouts {
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
TxtLookup dns_txt_lookup(const DnsServer& server = {}, const DnsTimeouts& timeouts = {});

/// Finds the DID that a handle has (atproto.com/specs/handle): the TXT record `did=...` of
/// `_atproto.<handle>`, else the text at `https://<handle>/.well-known/atproto-did`. Blocks; any
/// thread but the HTTP client's. The client must outlive it.
class HandleCheck {
 public:
  /// Hosts are asked on `https_port`; another than 443 is for tests.
  HandleCheck(transport::HttpClient& http, TxtLookup txt, std::uint16_t https_port = 443);

  /// Errors: handle_syntax, handle_not_found (both ways say so), handle_ambiguous, dns_failed, or
  /// what failed over HTTP. When DNS fails, the host is asked all the same; if it names no DID, the
  /// error is dns_failed, because DNS may name one.
  Result<std::string> resolve(std::string_view handle) const;

  /// Sees that the handle which a DID's document claims leads back to the DID. Errors: as above,
  /// and handle_of_other.
  Result<void> verify(std::string_view did, std::string_view handle) const;

 private:
  Result<std::string> ask_dns(const std::string& handle) const;
  Result<std::string> ask_host(const std::string& handle) const;

  transport::HttpClient& http_;
  const TxtLookup txt_;
  const std::uint16_t https_port_;
};

}  // namespace skua::documents
