#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "connection.hpp"
#include "stream_host.hpp"

namespace skua::sim {

using Tcp = boost::asio::ip::tcp;
using TlsSocket = boost::asio::ssl::stream<Tcp::socket>;

/// A websocket on which subscribeRepos is served (atproto.com/specs/event-stream).
class StreamSession : public Connection {
 public:
  using Upgrade = boost::beast::http::request<boost::beast::http::string_body>;

  /// Accepts the upgrade and serves until the connection ends. Once.
  virtual boost::asio::awaitable<void> run(const Upgrade& upgrade,
                                           std::optional<std::int64_t> cursor) = 0;
};

std::shared_ptr<StreamSession> make_stream_session(StreamHost& host, Tcp::socket socket);
std::shared_ptr<StreamSession> make_stream_session(StreamHost& host, TlsSocket socket);

}  // namespace skua::sim
