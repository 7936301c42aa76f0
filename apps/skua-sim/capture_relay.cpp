#include "capture_relay.hpp"

#include <exception>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "relay_connection.hpp"

namespace skua::sim {

namespace asio = boost::asio;

CaptureRelay::CaptureRelay(asio::io_context& io, RelayState& state, asio::ssl::context* tls)
    : io_(io), state_(state), tls_(tls) {}

void CaptureRelay::listen(std::uint16_t port) {
  open({asio::ip::address_v4::loopback(), port});
  port_ = acceptors_.front().local_endpoint().port();
  try {
    open({asio::ip::address_v6::loopback(), port_});
  } catch (const boost::system::system_error&) {
    // No IPv6 here, or somebody else's port: 127.0.0.1 is what the relay's URL says.
  }
  for (auto& acceptor : acceptors_) {
    asio::co_spawn(
        io_, [this, &acceptor] { return accept(acceptor); },
        [](const std::exception_ptr& error) {
          if (error) std::rethrow_exception(error);
        });
  }
}

void CaptureRelay::open(const Tcp::endpoint& address) {
  Tcp::acceptor acceptor(io_);
  acceptor.open(address.protocol());
  acceptor.set_option(Tcp::acceptor::reuse_address(true));
  acceptor.bind(address);
  acceptor.listen();
  acceptors_.push_back(std::move(acceptor));
}

asio::awaitable<void> CaptureRelay::accept(Tcp::acceptor& acceptor) {
  while (acceptor.is_open()) {
    boost::system::error_code error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    Tcp::socket socket(io_);
    co_await acceptor.async_accept(socket, token);
    if (error) continue;
    std::erase_if(connections_, [](const auto& connection) { return connection.expired(); });
    connections_.push_back(serve_connection(std::move(socket), tls_, state_));
  }
}

void CaptureRelay::stop() {
  for (auto& acceptor : acceptors_) acceptor.close();
  for (const auto& weak : connections_) {
    if (const auto connection = weak.lock()) connection->abort();
  }
}

}  // namespace skua::sim
