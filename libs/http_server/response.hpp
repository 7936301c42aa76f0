#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace skua::http_server {

/// A complete answer to a request. A 401 has the header `WWW-Authenticate: Bearer` (RFC 9110,
/// section 15.5.2).
struct Response {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  /// The header Allow, which a 405 needs; empty: none.
  std::string allow = {};
  /// The header Age (RFC 9111, section 5.1): the time since the content was read, if it is kept for
  /// several requests; nothing: no header.
  std::optional<std::chrono::seconds> age = std::nullopt;
  /// How long a client may use the answer again; zero: it keeps nothing.
  std::chrono::seconds max_age{0};
};

/// `{"error", "message"}`, as the AT Protocol answers (atproto.com/specs/xrpc#error-responses).
Response error_response(unsigned status, std::string_view error, std::string_view message);

/// The body of `error_response`.
std::string error_json(std::string_view error, std::string_view message);

}  // namespace skua::http_server
