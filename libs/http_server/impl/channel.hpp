#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>

#include "http_server/impl/asio_names.hpp"
#include "http_server/message_source.hpp"
#include "http_server/server.hpp"

namespace skua::http_server {

using Upgrade = boost::beast::http::request<boost::beast::http::empty_body>;

/// How the messages of a stream are sent: as server-sent events or by a websocket. One read and one
/// write at a time may be under way.
class Channel {
 public:
  virtual ~Channel() = default;

  // False: the connection has ended.

  /// Answers the request.
  virtual asio::awaitable<bool> open() = 0;
  virtual asio::awaitable<bool> write(const std::vector<Message>& messages) = 0;
  /// Sends the reason, and ends the stream.
  virtual asio::awaitable<void> close(const StreamEnd& end) = 0;

  /// Returns when the client is gone. Calls `heard` with each text message.
  virtual asio::awaitable<void> read(const std::function<void(std::string_view)>& heard) = 0;

  /// Ends the connection at once.
  virtual void drop() = 0;
};

std::unique_ptr<Channel> make_event_stream(Tcp::socket socket);
std::unique_ptr<Channel> make_websocket(Tcp::socket socket, Upgrade upgrade, const Limits& limits);

}  // namespace skua::http_server
