#include "websocket.hpp"

#include <utility>

#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "error_token.hpp"

namespace skua::sim {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

using ErrorCode = boost::system::error_code;

template <class NextLayer>
class BeastWebsocket final : public Websocket {
 public:
  explicit BeastWebsocket(NextLayer next_layer) : stream_(std::move(next_layer)) {
    stream_.auto_fragment(false);
  }

  asio::any_io_executor executor() override { return stream_.get_executor(); }

  asio::awaitable<bool> accept(const Upgrade& upgrade, const std::string& subprotocol) override {
    if (!subprotocol.empty()) {
      const auto decorate = [subprotocol](websocket::response_type& answer) {
        answer.set(beast::http::field::sec_websocket_protocol, subprotocol);
      };
      stream_.set_option(websocket::stream_base::decorator(decorate));
    }
    ErrorCode error;
    auto token = into(error);
    co_await stream_.async_accept(upgrade, token);
    co_return !error;
  }

  asio::awaitable<bool> read(std::string& message) override {
    buffer_.clear();
    ErrorCode error;
    auto token = into(error);
    co_await stream_.async_read(buffer_, token);
    if (error) co_return false;
    message = beast::buffers_to_string(buffer_.cdata());
    co_return true;
  }

  asio::awaitable<bool> write(Kind kind, ByteView message) override {
    stream_.binary(kind == Kind::binary);
    ErrorCode error;
    auto token = into(error);
    const auto buffer = asio::buffer(message.data(), message.size());
    co_await stream_.async_write(buffer, token);
    co_return !error;
  }

  asio::awaitable<bool> ping() override {
    ErrorCode error;
    auto token = into(error);
    const websocket::ping_data nothing;
    co_await stream_.async_ping(nothing, token);
    co_return !error;
  }

  asio::awaitable<void> close(std::uint16_t code, const std::string& words) override {
    ErrorCode ignored;
    auto token = into(ignored);
    const websocket::close_reason reason(static_cast<websocket::close_code>(code), words);
    co_await stream_.async_close(reason, token);
  }

  void drop() override {
    ErrorCode ignored;
    beast::get_lowest_layer(stream_).close(ignored);
  }

 private:
  websocket::stream<NextLayer, false> stream_;  // false: no permessage-deflate
  beast::flat_buffer buffer_;
};

}  // namespace

std::unique_ptr<Websocket> make_websocket(Tcp::socket socket) {
  return std::make_unique<BeastWebsocket<Tcp::socket>>(std::move(socket));
}

std::unique_ptr<Websocket> make_websocket(TlsSocket socket) {
  return std::make_unique<BeastWebsocket<TlsSocket>>(std::move(socket));
}

}  // namespace skua::sim
