#pragma once

#include <optional>
#include <string>

#include <boost/beast/core/flat_buffer.hpp>

#include "http_server/exchange.hpp"
#include "http_server/impl/channel.hpp"
#include "http_server/server.hpp"

namespace skua::http_server {

/// The result of reading a request.
struct Reading {
  /// Whether the client ended the connection first, or the read was cancelled. The other members
  /// then have no meaning.
  bool is_incomplete = false;
  /// The answer if no handler gets the request.
  std::optional<Response> refusal;
  /// The handler of the route. Not null if there is no refusal.
  const Server::Handler* handler = nullptr;
  Request request;
  /// The header, for the handshake of a websocket.
  Upgrade upgrade;
};

/// Reads the request of a client and finds its route. Does not read a body that is refused. The
/// caller limits the time. `address` is the address of the
/// connection. The arguments must outlive the call,
/// and the routes must outlive the result. `buffer` limits the headers of the chunks of a body.
asio::awaitable<Reading> read_request(Tcp::socket& socket, boost::beast::flat_buffer& buffer,
                                      const std::string& address, const Server::Options& options,
                                      const Server::Routes& routes);

/// Returns the text of a response for HTTP/1.1. The response closes the connection.
std::string response_text(const Response& response);

}  // namespace skua::http_server
