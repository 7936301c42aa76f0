#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>
#include <nlohmann/json.hpp>

#include "base/bytes.hpp"

namespace skua::sim {

/// Returns a completion token that writes errors to `error` instead of throwing them. The caller
/// must give the token a name before the `co_await`, because GCC 12.2 destroys temporaries in such
/// an expression twice.
inline auto into(boost::system::error_code& error) {
  return boost::asio::redirect_error(boost::asio::use_awaitable, error);
}

/// A complete HTTP answer, with the faults of its transmission.
struct Response {
  /// The constructor prevents an aggregate, because otherwise Outcome could convert a number to an
  /// answer.
  Response() = default;

  unsigned status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  Bytes body;

  /// True if the answer is a repository, to which download faults apply.
  bool is_download = false;
  /// The connection is dropped after this number of bytes of the body.
  std::optional<std::size_t> cut_after;
  /// The speed of the body; 0 for no limit.
  std::size_t bytes_per_second = 0;
};

Response json_response(const nlohmann::ordered_json& body, unsigned status = 200);
Response text_response(std::string_view text, std::string content_type = "text/plain");
/// Returns an answer with the body `{"error", "message"}` (atproto.com/specs/xrpc#error-responses).
Response error_response(unsigned status, std::string_view error, std::string_view message);

/// An HTTP request for the handlers. Percent-encoding is decoded.
struct Request {
  using Arguments = std::map<std::string, std::string, std::less<>>;

  std::string method;
  /// The target as received, for redirects and the log.
  std::string target;
  std::string path;
  Arguments query;
  /// The segments that matched the route's `:name` segments.
  Arguments segments;
  /// The Host header without the port.
  std::string host;
  /// The Authorization header.
  std::string authorization;
  std::string body;
};

/// Parses a request. `target` is a path with an optional query, as in HTTP/1.1.
Request parse_request(std::string_view method, std::string_view target, std::string_view host,
                      std::string body);

/// Either a value, or the error answer to the request.
template <class T>
using Outcome = boost::system::result<T, Response>;

/// Returns all values of a repeated parameter, in their order.
std::vector<std::string> all_of(const Request& request, std::string_view name);
/// Returns the Authorization header of HTTP Basic (RFC 7617).
std::string basic_authorization(std::string_view user, std::string_view password);

/// Returns a required parameter.
Outcome<std::string> required(const Request& request, std::string_view name);
/// Returns a whole number from `lowest` to `highest`; `usual` if the parameter is absent.
Outcome<std::int64_t> number_of(const Request& request, std::string_view name, std::int64_t usual,
                                std::int64_t lowest, std::int64_t highest);
/// Returns the cursor of a stream; nothing for a live start.
Outcome<std::optional<std::int64_t>> cursor_of(const Request& request);

}  // namespace skua::sim
