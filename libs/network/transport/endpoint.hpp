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
  /// The host in lower case. An IPv6 address has no brackets.
  std::string host;
  std::uint16_t port = 443;
  /// The path begins with `/`.
  std::string path;
  /// The part after `?`, which is usually empty.
  std::string query;

  /// Returns `wss://host/path?query`, without the default port of the scheme. Parsing the result
  /// gives the same endpoint.
  std::string url() const;
  /// Returns `url()` with `http://` or `https://`.
  std::string http_url() const;
  /// Returns `host` or `host:port`, for a Host header or a message.
  std::string authority() const;
  /// Returns the request target of a connection: path, query and `cursor=`.
  std::string target(std::optional<std::int64_t> cursor) const;
};

/// Parses an address as people write it: `relay.example`, `localhost:2470`, `https://pds.example`,
/// `ws://[::1]:2470/xrpc/...`. http and https mean ws and wss. An address without a scheme means
/// wss; its host must be localhost, an IP address or a name with a dot, because a single word is
/// probably a mistake. An address without a path gets `default_path`. Errors: errc::url_...
Result<Endpoint> parse_endpoint(std::string_view url,
                                std::string_view default_path = kSubscribeReposPath);

/// Parses an http or https URL, whose scheme is required. A `#fragment` is removed, and an empty
/// path becomes `/`. Errors: errc::url_...
Result<Endpoint> parse_http_url(std::string_view url);

}  // namespace skua::transport
