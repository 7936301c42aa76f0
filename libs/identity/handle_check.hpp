#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "identity/txt_lookup.hpp"
#include "transport/http_client.hpp"

namespace skua::identity {

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

}  // namespace skua::identity
