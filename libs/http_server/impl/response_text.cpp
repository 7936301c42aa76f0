#include "http_server/impl/response_text.hpp"

#include <string_view>

#include <boost/beast/http/status.hpp>
#include <fmt/format.h>

namespace skua::http_server {

std::string response_text(const Response& response) {
  namespace http = boost::beast::http;
  const auto reason = http::obsolete_reason(http::int_to_status(response.status));
  std::string headers;
  if (!response.allow.empty()) headers += fmt::format("Allow: {}\r\n", response.allow);
  if (response.content_type.starts_with("text/html")) {
    // A page loads nothing from other hosts, whatever texts of the network it shows.
    headers +=
        "Content-Security-Policy: default-src 'self'; frame-ancestors "
        "'none'; base-uri 'none'\r\n";
  }
  if (response.age) headers += fmt::format("Age: {}\r\n", response.age->count());
  if (response.status == 401) headers += "WWW-Authenticate: Bearer\r\n";
  const std::string caching = response.max_age.count() > 0
                                  ? fmt::format("max-age={}", response.max_age.count())
                                  : "no-store";
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: {}\r\n"
      "X-Content-Type-Options: nosniff\r\n{}Connection: close\r\n\r\n{}",
      response.status, std::string_view(reason.data(), reason.size()), response.content_type,
      response.body.size(), caching, headers, response.body);
}

}  // namespace skua::http_server
