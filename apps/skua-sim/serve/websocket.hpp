#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/bytes.hpp"

namespace skua::sim {

using Tcp = boost::asio::ip::tcp;
using TlsSocket = boost::asio::ssl::stream<Tcp::socket>;
/// The HTTP request for a websocket.
using Upgrade = boost::beast::http::request<boost::beast::http::string_body>;

/// The server's end of a websocket (RFC 6455), with or without TLS. Owned by its session, on the
/// thread of the io_context. One read and one write at a time. A function that returns false has
/// reached the end of the connection.
class Websocket {
 public:
  enum class Kind : std::uint8_t { text, binary };

  virtual ~Websocket() = default;
  virtual boost::asio::any_io_executor executor() = 0;

  /// Accepts the upgrade with this subprotocol (empty: none).
  virtual boost::asio::awaitable<bool> accept(const Upgrade& upgrade,
                                              const std::string& subprotocol) = 0;
  /// The client's next message. Pings and the client's close are answered meanwhile.
  virtual boost::asio::awaitable<bool> read(std::string& message) = 0;
  virtual boost::asio::awaitable<bool> write(Kind kind, ByteView message) = 0;
  virtual boost::asio::awaitable<bool> ping() = 0;
  /// Closes with a close handshake. `code`: RFC 6455, 7.4.
  virtual boost::asio::awaitable<void> close(std::uint16_t code, const std::string& words) = 0;
  /// Closes the TCP connection without a close handshake.
  virtual void drop() = 0;
};

std::unique_ptr<Websocket> make_websocket(Tcp::socket socket);
std::unique_ptr<Websocket> make_websocket(TlsSocket socket);

}  // namespace skua::sim
