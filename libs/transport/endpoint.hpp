#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skua::transport {

/// Where subscribeRepos is (atproto.com/specs/sync).
inline constexpr std::string_view kSubscribeReposPath = "/xrpc/com.atproto.sync.subscribeRepos";

/// Where a relay, PDS or other source offers its events, or what an HTTP request asks for.
struct Endpoint {
  bool tls = true;
  /// Lower case; an IPv6 address without brackets.
  std::string host;
  std::uint16_t port = 443;
  /// Begins with `/`.
  std::string path;
  /// What stood after `?`, without it; usually empty.
  std::string query;

  /// `wss://host/path?query`, the port only when it is not the scheme's own. Parses to the same
  /// again.
  std::string url() const;
  /// The same as `http://` or `https://`.
  std::string http_url() const;
  /// `host` or `host:port` as a Host header and a message to people have it.
  std::string authority() const;
  /// The request target of a connection: path, query and `cursor=`.
  std::string target(std::optional<std::int64_t> cursor) const;
};

/// Reads an address as people write it: `relay.example`, `localhost:2470`, `https://pds.example`,
/// `ws://[::1]:2470/xrpc/...`. Without a scheme: wss. http and https mean ws and wss. Without a
/// path: `default_path`. Errors: errc::url_...
Result<Endpoint> parse_endpoint(std::string_view url,
                                std::string_view default_path = kSubscribeReposPath);

/// Reads an http or https URL, the scheme included. A `#fragment` is left out; without a path it is
/// `/`. Errors: errc::url_...
Result<Endpoint> parse_http_url(std::string_view url);

}  // namespace skua::transport
