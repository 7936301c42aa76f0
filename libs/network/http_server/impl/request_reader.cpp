#include "http_server/impl/request_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <fmt/format.h>

#include "base/text.hpp"

namespace skua::http_server {

namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using Parser = http::request_parser<http::string_body>;
using Header = http::request_header<>;

/// The number of characters of a Host header that an error message shows.
constexpr std::size_t kShownHost = 100;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

std::string text_of(beast::string_view text) {
  return {text.data(), text.size()};
}

/// Returns nothing if no route has this method.
std::optional<Method> method_of(http::verb verb) {
  if (verb == http::verb::get) return Method::Get;
  if (verb == http::verb::post) return Method::Post;
  return std::nullopt;
}

Response body_too_large(const Limits& limits) {
  return error_response(
      413, "BodyTooLarge",
      fmt::format("the body of a request has at most {} bytes", limits.body_bytes));
}

Response answer_to(const boost::system::error_code& error, const Limits& limits) {
  if (error == http::error::body_limit) return body_too_large(limits);
  // A chunk of a body also has a header.
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return error_response(431, "HeaderTooLarge", "the header of the request is too large");
  }
  return error_response(400, "InvalidRequest", "not a request of HTTP/1.1");
}

Request request_of(const Header& header) {
  Request request;
  request.accept = text_of(header[http::field::accept]);
  request.authorization = text_of(header[http::field::authorization]);
  request.last_event_id = text_of(header["Last-Event-ID"]);
  request.host = text_of(header[http::field::host]);
  request.origin = text_of(header[http::field::origin]);
  // Only a GET request can ask for a websocket.
  request.is_websocket = beast::websocket::is_upgrade(header);
  return request;
}

/// Returns the header X-Forwarded-For. A proxy can add a header of its own below that of the
/// client.
std::string forwarded_for(const Header& header) {
  std::string all;
  const auto [first, end] = header.equal_range("X-Forwarded-For");
  for (auto field = first; field != end; ++field) {
    if (!all.empty()) all += ',';
    all += text_of(field->value());
  }
  return all;
}

/// Returns the answer to a request whose body no handler gets.
std::optional<Response> body_refusal(const Parser& parser, Method method, const Limits& limits) {
  if (method == Method::Get) {
    if (parser.is_done()) return std::nullopt;
    return error_response(413, "BodyTooLarge", "a GET request has no body");
  }
  const Header& header = parser.get();
  if (!is_json_type(text_of(header[http::field::content_type]))) {
    return error_response(415, "UnsupportedMediaType",
                          "the Content-Type of a POST request is application/json");
  }
  const auto coding = ascii_lower(text_of(header[http::field::transfer_encoding]));
  if (!coding.empty() && coding != "chunked") {
    return error_response(501, "UnsupportedCoding", "the only Transfer-Encoding is chunked");
  }
  const auto length = parser.content_length();
  if (length && *length > limits.body_bytes) return body_too_large(limits);
  return std::nullopt;
}

std::optional<Response> host_refusal(const Server::Options& options, const Request& request) {
  const bool checks = is_loopback(options.address) || !options.hosts.empty();
  if (!checks || is_known_host(request.host, options.hosts)) return std::nullopt;
  std::string message = fmt::format("the host '{}' is neither localhost nor an IP address",
                                    printable(request.host, kShownHost));
  if (!options.hosts_setting.empty()) {
    message +=
        fmt::format(": if it is a name of this server, name it with {}", options.hosts_setting);
  }
  return error_response(403, "UnknownHost", message);
}

std::optional<Response> origin_refusal(const Request& request) {
  if (!is_cross_origin(request)) return std::nullopt;
  return error_response(403, "CrossOrigin", "a web page of another origin may not read this");
}

/// Returns null if there is no route.
const Server::Route* find_route(const Server::Routes& routes, std::string_view path) {
  if (const auto found = routes.find(path); found != routes.end()) return &found->second;
  for (auto slash = path.rfind('/'); slash != path.npos; slash = path.rfind('/')) {
    path = path.substr(0, slash);
    if (const auto found = routes.find(std::string(path) + "/*"); found != routes.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

/// Sets the request without its body, and either its handler or a refusal.
void find_handler(const Parser& parser, const Server::Options& options,
                  const Server::Routes& routes, Reading& reading) {
  const Header& header = parser.get();
  auto target = parse_target(text_of(header.target()));
  if (!target) {
    reading.refusal =
        error_response(400, "InvalidRequest", "the target of the request is malformed");
    return;
  }
  reading.request.target = *std::move(target);
  reading.refusal = host_refusal(options, reading.request);
  if (reading.refusal) return;
  const Server::Route* found = find_route(routes, reading.request.target.path);
  if (found != nullptr && found->guard) {
    // Checks the origin before the guard, so that a web page of another origin cannot make the
    // guard count its requests.
    reading.refusal = origin_refusal(reading.request);
    if (!reading.refusal) reading.refusal = found->guard(reading.request);
    if (reading.refusal) return;
  }
  if (found == nullptr || !found->handler) {
    reading.refusal = error_response(404, "NotFound", "there is no such path");
    return;
  }
  const Server::Route& route = *found;
  if (method_of(header.method()) != route.method) {
    const auto allowed = name_of(route.method);
    reading.refusal = error_response(405, "MethodNotAllowed",
                                     fmt::format("the only method of this path is {}", allowed));
    reading.refusal->allow = allowed;
    return;
  }
  reading.request.method = route.method;
  reading.refusal = origin_refusal(reading.request);
  if (!reading.refusal) reading.refusal = body_refusal(parser, route.method, options.limits);
  if (!reading.refusal) reading.handler = &route.handler;
}

/// Whether the client sends the body only after a response 100 (RFC 9110, section 10.1.1).
bool waits_for_continue(const Header& header) {
  return header.version() >= 11 &&
         ascii_lower(text_of(header[http::field::expect])) == "100-continue";
}

/// Reads the rest of a request after its header.
asio::awaitable<boost::system::error_code> read_body(Tcp::socket& socket,
                                                     beast::flat_buffer& buffer, Parser& parser) {
  boost::system::error_code error;
  if (waits_for_continue(parser.get())) {
    auto token = error_to(error);
    const auto text = asio::buffer(kContinue);
    co_await asio::async_write(socket, text, token);
    if (error) co_return error;
  }
  auto token = error_to(error);
  co_await http::async_read(socket, buffer, parser, token);
  co_return error;
}

}  // namespace

asio::awaitable<Reading> read_request(Tcp::socket& socket, beast::flat_buffer& buffer,
                                      const std::string& address, const Server::Options& options,
                                      const Server::Routes& routes) {
  const auto& limits = options.limits;
  Parser parser;
  parser.header_limit(static_cast<std::uint32_t>(limits.header_bytes));
  // Sets no limit, because the answer to a body depends on the route. `find_handler` checks the
  // declared length.
  parser.body_limit(boost::none);
  Reading reading;
  boost::system::error_code error;
  auto token = error_to(error);
  co_await http::async_read_header(socket, buffer, parser, token);
  if (!error) {
    reading.request = request_of(parser.get());
    reading.request.address = client_address(address, forwarded_for(parser.get()), options.proxies);
    find_handler(parser, options, routes, reading);
    if (reading.refusal) co_return reading;
    if (!parser.is_done()) {
      parser.body_limit(limits.body_bytes);
      error = co_await read_body(socket, buffer, parser);
    }
  }
  if (!error) {
    auto message = parser.release();
    reading.request.body = std::move(message.body());
    reading.upgrade = Upgrade(std::move(message.base()));
  } else if (error == http::error::end_of_stream ||
             error.category() == asio::error::get_system_category()) {
    reading.is_incomplete = true;
  } else {
    reading.refusal = answer_to(error, limits);
  }
  co_return reading;
}

std::string response_text(const Response& response) {
  namespace http = boost::beast::http;
  const auto reason = http::obsolete_reason(http::int_to_status(response.status));
  std::string headers;
  if (!response.allow.empty()) headers += fmt::format("Allow: {}\r\n", response.allow);
  if (response.content_type.starts_with("text/html")) {
    // A page may load nothing from other hosts, even if it shows text from the network.
    headers +=
        "Content-Security-Policy: default-src 'self'; frame-ancestors "
        "'none'; base-uri 'none'\r\n";
  }
  if (response.age) headers += fmt::format("Age: {}\r\n", response.age->count());
  if (response.retry_after) {
    headers += fmt::format("Retry-After: {}\r\n", response.retry_after->count());
  }
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
