#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/system/error_code.hpp>

#include "http_server/message_source.hpp"
#include "http_server/server.hpp"

namespace skua::http_server {

namespace asio = boost::asio;
using Tcp = boost::asio::ip::tcp;

/// A completion token that writes errors to `error` instead of throwing them. Give the token a name
/// before the `co_await`: GCC 12.2 destroys temporaries in such an expression twice.
inline auto error_to(boost::system::error_code& error) {
  return asio::redirect_error(asio::use_awaitable, error);
}

using Upgrade = boost::beast::http::request<boost::beast::http::empty_body>;

/// Sends the messages of a stream, as server-sent events or by a websocket. At most one read and
/// one write may be active at a time.
class Channel {
 public:
  virtual ~Channel() = default;

  // `open` and `write` return false if the connection has ended.

  /// Answers the request.
  virtual asio::awaitable<bool> open() = 0;
  virtual asio::awaitable<bool> write(const std::vector<Message>& messages) = 0;
  /// Sends the reason and ends the stream.
  virtual asio::awaitable<void> close(const StreamEnd& end) = 0;

  /// Calls `heard` with each text message, and returns when the client is gone.
  virtual asio::awaitable<void> read(const std::function<void(std::string_view)>& heard) = 0;

  /// Ends the connection at once.
  virtual void drop() = 0;
};

std::unique_ptr<Channel> make_event_stream(Tcp::socket socket);
std::unique_ptr<Channel> make_websocket(Tcp::socket socket, Upgrade upgrade, const Limits& limits);

/// Runs functions on the server's thread. A Posting may outlive the server; then `post` does
/// nothing. Any thread.
class Posting {
 public:
  explicit Posting(boost::asio::io_context& io) : io_(&io) {}

  void post(std::function<void()> function) {
    const std::scoped_lock lock(mutex_);
    if (io_ != nullptr) boost::asio::post(*io_, std::move(function));
  }
  /// Must be called before the io_context is destroyed.
  void close() {
    const std::scoped_lock lock(mutex_);
    io_ = nullptr;
  }

 private:
  std::mutex mutex_;
  boost::asio::io_context* io_;
};

/// Calls a function unless the watchdog is disarmed in time. The function keeps the owner of the
/// watchdog alive. One thread.
class Watchdog {
 public:
  explicit Watchdog(const boost::asio::any_io_executor& executor) : timer_(executor) {}

  /// Replaces the previous function.
  void arm(std::chrono::milliseconds time, std::function<void()> expired) {
    const auto armed = ++armed_;
    timer_.expires_after(time);
    timer_.async_wait([this, armed, expired = std::move(expired)](boost::system::error_code error) {
      if (!error && armed == armed_) expired();
    });
  }
  void disarm() {
    ++armed_;
    timer_.cancel();
  }

 private:
  boost::asio::steady_timer timer_;
  std::uint64_t armed_ = 0;
};

}  // namespace skua::http_server
