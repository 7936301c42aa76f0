#include "transport/impl/tcp_or_tls_stream.hpp"

#include <cstdint>
#include <span>
#include <utility>

#include <boost/asio/append.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/defer.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/teardown.hpp>

namespace skua::transport::impl {
namespace {

/// Binds a handler to the client's executor. All objects of a client use one io_context, so Asio
/// need not post to the handler's type-erased executor.
template <class Handler>
auto on(const Executor& executor, Handler handler) {
  return boost::asio::bind_executor(executor, std::move(handler));
}

std::span<std::uint8_t> span_of(const boost::asio::mutable_buffer& buffer) {
  return {static_cast<std::uint8_t*>(buffer.data()), buffer.size()};
}

}  // namespace

void TcpOrTlsStream::start_handshake(Done handler) {
  tls_->async_handshake(boost::asio::ssl::stream_base::client,
                        on(get_executor(), std::move(handler)));
}

template <class Handler>
void TcpOrTlsStream::read_connection(const Pieces<boost::asio::mutable_buffer>& pieces,
                                     Handler handler) {
  if (tls_) {
    tls_->async_read_some(pieces, on(get_executor(), std::move(handler)));
  } else {
    socket_.async_read_some(pieces, on(get_executor(), std::move(handler)));
  }
}

void TcpOrTlsStream::start_read(const Pieces<boost::asio::mutable_buffer>& pieces,
                                Transferred handler) {
  if (!ahead_ || pieces.begin() == pieces.end()) {
    read_connection(pieces, std::move(handler));
    return;
  }
  const boost::asio::mutable_buffer piece = *pieces.begin();
  if (const std::size_t taken = ahead_->take(span_of(piece)); taken > 0) {
    boost::asio::defer(
        on(get_executor(), boost::asio::append(std::move(handler), ErrorCode(), taken)));
    return;
  }
  read_more(piece, std::move(handler));
}

void TcpOrTlsStream::read_more(const boost::asio::mutable_buffer& piece, Transferred handler) {
  const auto space = ahead_->space();
  const Pieces<boost::asio::mutable_buffer> all(
      boost::asio::mutable_buffer(space.data(), space.size()));
  read_connection(
      all, [this, piece, handler = std::move(handler)](ErrorCode error, std::size_t read) mutable {
        // After an error, such as a closed socket, the stream need not exist any more.
        if (error) return std::move(handler)(error, 0);
        ahead_->filled(read);
        const std::size_t taken = ahead_->take(span_of(piece));
        if (taken == 0) return read_more(piece, std::move(handler));
        std::move(handler)(error, taken);
      });
}

void TcpOrTlsStream::start_write(const Pieces<boost::asio::const_buffer>& pieces,
                                 Transferred handler) {
  if (tls_) {
    tls_->async_write_some(pieces, on(get_executor(), std::move(handler)));
  } else {
    socket_.async_write_some(pieces, on(get_executor(), std::move(handler)));
  }
}

void TcpOrTlsStream::start_teardown(boost::beast::role_type role, Done handler) {
  if (tls_) {
    boost::beast::async_teardown(role, *tls_, on(get_executor(), std::move(handler)));
  } else {
    boost::beast::websocket::async_teardown(role, socket_, on(get_executor(), std::move(handler)));
  }
}

}  // namespace skua::transport::impl
