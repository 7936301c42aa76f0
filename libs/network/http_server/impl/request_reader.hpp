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
  /// The client ended the connection first, or the read was cancelled. Nothing else counts.
  bool is_incomplete = false;
  /// Set: no handler gets the request, and this is the answer.
  std::optional<Response> refusal;
  /// Of the route. Not null if there is no refusal.
  const Server::Handler* handler = nullptr;
  Request request;
  /// The header, for the handshake of a websocket.
  Upgrade upgrade;
};

/// Reads the request of a client and finds its route. It does not read a body that it refuses. The
/// caller limits the time. `address` is the client's. The parameters outlive the call, and the
/// routes outlive the result. `buffer` limits the headers of the chunks of a body.
asio::awaitable<Reading> read_request(Tcp::socket& socket, boost::beast::flat_buffer& buffer,
                                      const std::string& address, const Server::Options& options,
                                      const Server::Routes& routes);

/// A response as it is sent: HTTP/1.1. The connection ends after it.
std::string response_text(const Response& response);

}  // namespace skua::http_server
