#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skua::transport {

/// The path of subscribeRepos (atproto.com/specs/sync).
inline constexpr std::string_view kSubscribeReposPath = "/xrpc/com.atproto.sync.subscribeRepos";

/// The address of the events of a relay, PDS or other source, or of an HTTP request.
struct Endpoint {
  bool tls = true;
  /// Lower case; an IPv6 address without brackets.
  std::string host;
  std::uint16_t port = 443;
  /// Begins with `/`.
  std::string path;
  /// The part after `?`; usually empty.
  std::string query;

  /// `wss://host/path?query`, without the default port of the scheme. Parsing it gives the same
  /// endpoint.
  std::string url() const;
  /// The same with `http://` or `https://`.
  std::string http_url() const;
  /// `host` or `host:port`, for a Host header or a message.
  std::string authority() const;
  /// The request target of a connection: path, query and `cursor=`.
  std::string target(std::optional<std::int64_t> cursor) const;
};

/// Parses an address as people write it: `relay.example`, `localhost:2470`, `https://pds.example`,
/// `ws://[::1]:2470/xrpc/...`. Without a scheme: wss, and the host is localhost, an IP address or a
/// name with a dot, because a single word is rather a mistake. http and https mean ws and wss.
/// Without a path: `default_path`. Errors: errc::url_...
Result<Endpoint> parse_endpoint(std::string_view url,
                                std::string_view default_path = kSubscribeReposPath);

/// Parses an http or https URL; the scheme is required. A `#fragment` is removed; an empty path
/// becomes `/`. Errors: errc::url_...
Result<Endpoint> parse_http_url(std::string_view url);

}  // namespace skua::transport
