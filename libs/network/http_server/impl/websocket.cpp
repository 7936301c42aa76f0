#include <chrono>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "base/text.hpp"
#include "http_server/impl/channel.hpp"

namespace skua::http_server {
namespace {

namespace websocket = boost::beast::websocket;

/// The pause between the messages of a client, so that parsing them does not occupy the server's
/// thread.
constexpr std::chrono::milliseconds kReadPause{100};
/// The largest length of the reason in a close frame (RFC 6455, section 5.5).
constexpr std::size_t kReasonBytes = 123;

class Websocket final : public Channel {
 public:
  Websocket(Tcp::socket socket, Upgrade upgrade, const Limits& limits)
      : stream_(std::move(socket)), upgrade_(std::move(upgrade)), pause_(stream_.get_executor()) {
    websocket::stream_base::timeout timeouts{};
    timeouts.handshake_timeout = limits.request_time;
    timeouts.idle_timeout = limits.idle_time;
    timeouts.keep_alive_pings = true;
    stream_.set_option(timeouts);
    stream_.read_message_max(limits.message_bytes);
    stream_.auto_fragment(false);
    stream_.text(true);
  }

  asio::awaitable<bool> open() override {
    boost::system::error_code error;
    auto token = error_to(error);
    co_await stream_.async_accept(upgrade_, token);
    co_return !error;
  }

  asio::awaitable<bool> write(const std::vector<Message>& messages) override {
    boost::system::error_code error;
    for (const auto& message : messages) {
      auto token = error_to(error);
      const auto buffer = asio::buffer(message.data);
      co_await stream_.async_write(buffer, token);
      if (error) co_return false;
    }
    co_return true;
  }

  asio::awaitable<void> close(const StreamEnd& end) override {
    // The reason becomes ASCII, because a reason that is cut must still be UTF-8.
    const auto words = printable(end.error + ": " + end.message, kReasonBytes);
    websocket::close_reason reason(static_cast<websocket::close_code>(end.websocket_code),
                                   words.substr(0, kReasonBytes));
    boost::system::error_code ignored;
    auto token = error_to(ignored);
    co_await stream_.async_close(reason, token);
  }

  asio::awaitable<void> read(const std::function<void(std::string_view)>& heard) override {
    boost::beast::flat_buffer buffer;
    boost::system::error_code error;
    while (true) {
      auto token = error_to(error);
      co_await stream_.async_read(buffer, token);
      if (error) co_return;
      if (stream_.got_text()) {
        heard({static_cast<const char*>(buffer.data().data()), buffer.size()});
      }
      buffer.clear();
      buffer.shrink_to_fit();
      pause_.expires_after(kReadPause);
      auto pause_token = error_to(error);
      co_await pause_.async_wait(pause_token);
    }
  }

  void drop() override {
    boost::system::error_code ignored;
    stream_.next_layer().close(ignored);
  }

 private:
  websocket::stream<Tcp::socket, false> stream_;  // false disables permessage-deflate
  const Upgrade upgrade_;
  asio::steady_timer pause_;
};

}  // namespace

std::unique_ptr<Channel> make_websocket(Tcp::socket socket, Upgrade upgrade, const Limits& limits) {
  return std::make_unique<Websocket>(std::move(socket), std::move(upgrade), limits);
}

}  // namespace skua::http_server
