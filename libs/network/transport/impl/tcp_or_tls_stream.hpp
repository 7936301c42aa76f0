#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/role.hpp>

#include "base/result.hpp"
#include "transport/impl/asio_types.hpp"
#include "transport/impl/read_ahead.hpp"

namespace skua::transport::impl {

/// A TCP socket, with or without TLS. It is one type, so that Beast's operations are compiled once.
/// It satisfies Beast's AsyncStream and can be a websocket's next layer. Only tcp_or_tls_stream.cpp
/// compiles the operations on the socket itself. Not movable, because TLS refers to the socket. One
/// thread.
class TcpOrTlsStream {
 public:
  using executor_type = Executor;
  using Tls = boost::asio::ssl::stream<Socket&>;

  explicit TcpOrTlsStream(const Executor& executor) : socket_(executor) {}
  TcpOrTlsStream(const TcpOrTlsStream&) = delete;
  TcpOrTlsStream& operator=(const TcpOrTlsStream&) = delete;

  executor_type get_executor() { return socket_.get_executor(); }
  Socket& socket() { return socket_; }

  /// Adds TLS to the connected socket. All later reads and writes use TLS, and the caller must make
  /// the handshake before them.
  Tls& add_tls(boost::asio::ssl::context& context) { return tls_.emplace(socket_, context); }

  /// Makes later reads go through a ReadAhead of this size: each takes as many bytes from the
  /// connection as there are. It saves system calls, and most of Beast's work for a message.
  ReadAhead& read_ahead(std::size_t bytes) { return ahead_.emplace(bytes); }

  /// Makes the handshake as the client.
  template <class Token>
  auto async_handshake(Token&& token) {
    return boost::asio::async_initiate<Token, void(ErrorCode)>(
        [this](auto handler) { start_handshake(std::move(handler)); }, token);
  }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(ErrorCode, std::size_t)>(
        [this](auto handler, const Pieces<boost::asio::mutable_buffer>& pieces) {
          start_read(pieces, std::move(handler));
        },
        token, Pieces<boost::asio::mutable_buffer>(buffers));
  }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(ErrorCode, std::size_t)>(
        [this](auto handler, const Pieces<boost::asio::const_buffer>& pieces) {
          start_write(pieces, std::move(handler));
        },
        token, Pieces<boost::asio::const_buffer>(buffers));
  }

  // Beast's websocket finds these functions by argument-dependent lookup.
  template <class Handler>
  friend void async_teardown(boost::beast::role_type role, TcpOrTlsStream& stream,
                             Handler&& handler) {
    stream.start_teardown(role, std::forward<Handler>(handler));
  }
  friend void beast_close_socket(TcpOrTlsStream& stream) {
    ErrorCode ignored;
    stream.socket_.close(ignored);
  }

 private:
  using Done = boost::asio::any_completion_handler<void(ErrorCode)>;
  using Transferred = boost::asio::any_completion_handler<void(ErrorCode, std::size_t)>;

  /// The first buffers of a sequence. An operation that reads or writes "some" bytes may ignore the
  /// other buffers.
  template <class Buffer>
  class Pieces {
   public:
    template <class Buffers>
    explicit Pieces(const Buffers& buffers) {
      const auto end = boost::asio::buffer_sequence_end(buffers);
      for (auto it = boost::asio::buffer_sequence_begin(buffers); it != end; ++it) {
        const Buffer buffer(*it);
        if (buffer.size() == 0) continue;
        if (size_ == pieces_.size()) break;
        pieces_[size_++] = buffer;
      }
    }
    const Buffer* begin() const { return pieces_.data(); }
    const Buffer* end() const { return pieces_.data() + size_; }

   private:
    std::array<Buffer, 16> pieces_;
    std::size_t size_ = 0;
  };

  void start_handshake(Done handler);
  template <class Handler>
  void read_connection(const Pieces<boost::asio::mutable_buffer>& pieces, Handler handler);
  /// Reads ahead until there are bytes to take.
  void read_more(const boost::asio::mutable_buffer& piece, Transferred handler);
  void start_read(const Pieces<boost::asio::mutable_buffer>& pieces, Transferred handler);
  void start_write(const Pieces<boost::asio::const_buffer>& pieces, Transferred handler);
  void start_teardown(boost::beast::role_type role, Done handler);

  Socket socket_;
  std::optional<Tls> tls_;
  std::optional<ReadAhead> ahead_;
};

}  // namespace skua::transport::impl
