#include "serve/server.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "serve/http_connection.hpp"

namespace skua::sim {

namespace asio = boost::asio;

Server::Server(asio::io_context& io, std::uint16_t port, asio::ssl::context* tls)
    : io_(io), tls_(tls) {
  open({asio::ip::address_v4::loopback(), port});
  port_ = acceptors_.front().local_endpoint().port();
  try {
    open({asio::ip::address_v6::loopback(), port_});
  } catch (const boost::system::system_error&) {
    // The machine has no IPv6, or the port is in use. The server works without ::1, because its URL
    // has 127.0.0.1.
  }
}

void Server::start(Site& site) {
  for (auto& acceptor : acceptors_) {
    asio::co_spawn(
        io_, [this, &acceptor, &site] { return accept(acceptor, site); },
        [](const std::exception_ptr& error) {
          if (error) std::rethrow_exception(error);
        });
  }
}

void Server::open(const Tcp::endpoint& address) {
  Tcp::acceptor acceptor(io_);
  acceptor.open(address.protocol());
  acceptor.set_option(Tcp::acceptor::reuse_address(true));
  acceptor.bind(address);
  acceptor.listen();
  acceptors_.push_back(std::move(acceptor));
}

asio::awaitable<void> Server::accept(Tcp::acceptor& acceptor, Site& site) {
  while (acceptor.is_open()) {
    boost::system::error_code error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    Tcp::socket socket(io_);
    co_await acceptor.async_accept(socket, token);
    if (error) {
      // The cause may be temporary, for example too many open files, so the server pauses and
      // continues.
      asio::steady_timer pause(io_, std::chrono::milliseconds(50));
      co_await pause.async_wait(token);
      continue;
    }
    std::erase_if(connections_, [](const auto& connection) { return connection.expired(); });
    connections_.push_back(serve_connection(std::move(socket), tls_, site));
  }
}

void Server::drop_connections() {
  for (const auto& weak : connections_) {
    if (const auto connection = weak.lock()) connection->abort();
  }
}

void Server::stop() {
  for (auto& acceptor : acceptors_) acceptor.close();
  drop_connections();
}

}  // namespace skua::sim
