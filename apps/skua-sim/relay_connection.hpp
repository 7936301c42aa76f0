#pragma once

#include <memory>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include "capture_relay.hpp"

namespace skua::sim {

/// Serves one client until it ends; it keeps itself alive meanwhile. `tls` null: plain.
std::shared_ptr<Connection> serve_connection(boost::asio::ip::tcp::socket socket,
                                             boost::asio::ssl::context* tls, RelayState& state);

}  // namespace skua::sim
