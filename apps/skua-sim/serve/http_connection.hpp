#pragma once

#include <memory>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include "serve/connection.hpp"
#include "serve/site.hpp"

namespace skua::sim {

/// Serves one client until the connection ends: one request after another, or the stream after an
/// upgrade. If `tls` is null, the connection has no TLS.
std::shared_ptr<Connection> serve_connection(boost::asio::ip::tcp::socket socket,
                                             boost::asio::ssl::context* tls, Site& site);

}  // namespace skua::sim
