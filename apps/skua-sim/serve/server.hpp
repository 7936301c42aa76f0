#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include "serve/connection.hpp"
#include "serve/site.hpp"

namespace skua::sim {

/// Serves a site on loopback to any number of clients. Runs entirely on the thread of the
/// io_context.
class Server {
 public:
  /// Listens on 127.0.0.1 and, if available, on ::1. Connections wait until `start`. With port 0
  /// the system chooses a free port. If `tls` is null, there is no TLS. Throws
  /// boost::system::system_error if the port is not available. The arguments must outlive the
  /// server.
  Server(boost::asio::io_context& io, std::uint16_t port, boost::asio::ssl::context* tls);

  std::uint16_t port() const { return port_; }
  /// Returns an address such as `127.0.0.1:2001`.
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  /// Begins to serve. To be called once. The server must not move, and the server and the site must
  /// outlive the io_context's last run.
  void start(Site& site);

  /// Ends all connections.
  void drop_connections();
  /// Stops listening and ends all connections, so that the io_context runs out of work.
  void stop();

 private:
  using Tcp = boost::asio::ip::tcp;

  void open(const Tcp::endpoint& address);
  boost::asio::awaitable<void> accept(Tcp::acceptor& acceptor, Site& site);

  boost::asio::io_context& io_;
  boost::asio::ssl::context* tls_;
  std::uint16_t port_ = 0;
  std::list<Tcp::acceptor> acceptors_;
  std::list<std::weak_ptr<Connection>> connections_;
};

}  // namespace skua::sim
