#include "transport/impl/tcp_or_tls_stream.hpp"

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
  if (ahead_begin_ < ahead_end_) {
    const auto taken = take_ahead(pieces);
    boost::asio::defer(
        on(get_executor(), boost::asio::append(std::move(handler), ErrorCode(), taken)));
    return;
  }
  if (boost::asio::buffer_size(pieces) >= ahead_.size()) {
    read_connection(pieces, std::move(handler));
    return;
  }
  const Pieces<boost::asio::mutable_buffer> all(boost::asio::buffer(ahead_));
  read_connection(
      all, [this, pieces, handler = std::move(handler)](ErrorCode error, std::size_t read) mutable {
        // After an error, such as a closed socket, the stream need not exist any more.
        if (error) return std::move(handler)(error, 0);
        ahead_begin_ = 0;
        ahead_end_ = read;
        std::move(handler)(error, take_ahead(pieces));
      });
}

std::size_t TcpOrTlsStream::take_ahead(const Pieces<boost::asio::mutable_buffer>& pieces) {
  const auto taken = boost::asio::buffer_copy(
      pieces, boost::asio::buffer(ahead_.data() + ahead_begin_, ahead_end_ - ahead_begin_));
  ahead_begin_ += taken;
  return taken;
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
