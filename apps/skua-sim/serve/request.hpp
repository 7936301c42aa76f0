#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/system/result.hpp>

#include "response.hpp"

namespace skua::sim {

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
