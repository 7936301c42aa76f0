#include "transport/impl/tcp_or_tls_stream.hpp"

#include <boost/asio/bind_executor.hpp>
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

void TcpOrTlsStream::start_read(const Pieces<boost::asio::mutable_buffer>& pieces,
                                Transferred handler) {
  if (tls_) {
    tls_->async_read_some(pieces, on(get_executor(), std::move(handler)));
  } else {
    socket_.async_read_some(pieces, on(get_executor(), std::move(handler)));
  }
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
