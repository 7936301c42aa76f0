#include <array>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include "http_server/exchange.hpp"
#include "http_server/impl/channel.hpp"

namespace skua::http_server {
namespace {

constexpr std::string_view kHead =
    "HTTP/1.1 200 OK\r\n"
    "Content-Type: text/event-stream\r\n"
    "Cache-Control: no-store\r\n"
    // Without this header nginx would buffer the events.
    "X-Accel-Buffering: no\r\n"
    "Connection: close\r\n\r\n";

void append_event(std::string& out, const Message& message) {
  if (!message.event.empty()) out.append("event: ").append(message.event).append("\n");
  if (!message.id.empty()) out.append("id: ").append(message.id).append("\n");
  out.append("data: ").append(message.data).append("\n\n");
}

/// Sends server-sent events (HTML standard, section 9.2).
class EventStream final : public Channel {
 public:
  explicit EventStream(Tcp::socket socket) : socket_(std::move(socket)) {}

  asio::awaitable<bool> open() override { return send(std::string(kHead)); }

  asio::awaitable<bool> write(const std::vector<Message>& messages) override {
    std::string text;
    for (const auto& message : messages) append_event(text, message);
    return send(std::move(text));
  }

  asio::awaitable<void> close(const StreamEnd& end) override {
    std::string text;
    const Message last{.data = error_json(end.error, end.message), .event = "error"};
    append_event(text, last);
    co_await send(std::move(text));
    boost::system::error_code ignored;
    socket_.shutdown(Tcp::socket::shutdown_send, ignored);
  }

  asio::awaitable<void> read(const std::function<void(std::string_view)>& /*heard*/) override {
    std::array<char, 64> bytes{};
    boost::system::error_code error;
    auto token = error_to(error);
    const auto buffer = asio::buffer(bytes);
    // The client must not send anything, so its end and any bytes end the stream.
    co_await socket_.async_read_some(buffer, token);
  }

  void drop() override {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

 private:
  asio::awaitable<bool> send(std::string text) {
    boost::system::error_code error;
    auto token = error_to(error);
    const auto buffer = asio::buffer(text);
    co_await asio::async_write(socket_, buffer, token);
    co_return !error;
  }

  Tcp::socket socket_;
};

}  // namespace

std::unique_ptr<Channel> make_event_stream(Tcp::socket socket) {
  return std::make_unique<EventStream>(std::move(socket));
}

}  // namespace skua::http_server
