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

/// A completion token that writes errors to `error` instead of throwing them. Give it a name before
/// the `co_await`: GCC 12.2 destroys temporaries in such an expression twice.
inline auto into(boost::system::error_code& error) {
  return boost::asio::redirect_error(boost::asio::use_awaitable, error);
}

/// A complete HTTP answer, with the faults of its transmission.
struct Response {
  /// Not an aggregate: otherwise Outcome could convert a number to an answer.
  Response() = default;

  unsigned status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  Bytes body;

  /// The answer is a repository, for download faults.
  bool is_download = false;
  /// Drops the connection after this many bytes of the body.
  std::optional<std::size_t> cut_after;
  /// 0: no limit.
  std::size_t bytes_per_second = 0;
};

Response json_response(const nlohmann::ordered_json& body, unsigned status = 200);
Response text_response(std::string_view text, std::string content_type = "text/plain");
/// `{"error", "message"}` (atproto.com/specs/xrpc#error-responses).
Response error_response(unsigned status, std::string_view error, std::string_view message);

/// An HTTP request for the handlers: percent-encoding is decoded.
struct Request {
  using Arguments = std::map<std::string, std::string, std::less<>>;

  std::string method;
  /// As received, for redirects and the log.
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

/// `target` is a path with an optional query, as in HTTP/1.1.
Request parse_request(std::string_view method, std::string_view target, std::string_view host,
                      std::string body);

/// A value, or the error answer to the request.
template <class T>
using Outcome = boost::system::result<T, Response>;

/// All values of a repeated parameter, in their order.
std::vector<std::string> all_of(const Request& request, std::string_view name);
/// The Authorization header of HTTP Basic (RFC 7617).
std::string basic_authorization(std::string_view user, std::string_view password);

/// A required parameter.
Outcome<std::string> required(const Request& request, std::string_view name);
/// A whole number from `lowest` to `highest`; `usual` if the parameter is absent.
Outcome<std::int64_t> number_of(const Request& request, std::string_view name, std::int64_t usual,
                                std::int64_t lowest, std::int64_t highest);
/// The cursor of a stream; nothing: live.
Outcome<std::optional<std::int64_t>> cursor_of(const Request& request);

}  // namespace skua::sim
