#include "http_server/impl/request_reader.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

namespace skua::http_server {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

std::string text_of(beast::string_view text) {
  return {text.data(), text.size()};
}

Response answer_to(const boost::system::error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return error_response(431, "HeaderTooLarge", "the header of the request is too large");
  }
  if (error == http::error::unexpected_body || error == http::error::body_limit) {
    return error_response(413, "BodyTooLarge", "a GET request has no body");
  }
  return error_response(400, "InvalidRequest", "not a request of HTTP/1.1");
}

Request request_of(const http::request_header<>& header) {
  Request request;
  request.accept = text_of(header[http::field::accept]);
  request.last_event_id = text_of(header["Last-Event-ID"]);
  request.host = text_of(header[http::field::host]);
  request.origin = text_of(header[http::field::origin]);
  request.is_websocket = beast::websocket::is_upgrade(header);
  return request;
}

/// Sets the request, and its handler or a refusal.
void find_handler(const http::request_header<>& header, const Server::Options& options,
                  const Server::Routes& routes, Reading& reading) {
  reading.request = request_of(header);
  const auto target = parse_target(text_of(header.target()));
  const auto route = target ? routes.find(target->path) : routes.end();
  if (header.method() != http::verb::get) {
    reading.refusal = error_response(405, "MethodNotAllowed", "only GET is supported");
  } else if (!target) {
    reading.refusal =
        error_response(400, "InvalidRequest", "the target of the request is malformed");
  } else if (route == routes.end()) {
    reading.refusal = error_response(404, "NotFound", "there is no such path");
  } else if (options.refuses_cross_origin && is_cross_origin(reading.request)) {
    reading.refusal =
        error_response(403, "CrossOrigin", "a web page of another origin may not read this");
  } else {
    reading.request.target = *target;
    reading.handler = &route->second;
  }
}

}  // namespace

asio::awaitable<Reading> read_request(Tcp::socket& socket, beast::flat_buffer& buffer,
                                      const Server::Options& options,
                                      const Server::Routes& routes) {
  http::request_parser<http::empty_body> parser;
  parser.header_limit(static_cast<std::uint32_t>(options.limits.header_bytes));
  boost::system::error_code error;
  auto token = error_to(error);
  co_await http::async_read(socket, buffer, parser, token);
  Reading reading;
  if (!error) {
    reading.upgrade = parser.release();
    find_handler(reading.upgrade, options, routes, reading);
  } else if (error == http::error::end_of_stream ||
             error.category() == asio::error::get_system_category()) {
    reading.is_incomplete = true;
  } else {
    reading.refusal = answer_to(error);
  }
  co_return reading;
}

}  // namespace skua::http_server
