#include "serve/websocket_session.hpp"

#include <chrono>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "serve/http_message.hpp"

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

namespace asio = boost::asio;
using boost::beast::websocket::close_code;

namespace {

constexpr std::chrono::seconds kPingInterval{30};

}  // namespace

WebsocketSession::WebsocketSession(SessionHost& host, std::unique_ptr<Websocket> websocket)
    : host_(host),
      websocket_(std::move(websocket)),
      pause_(websocket_->executor(), SteadyClock::time_point::max()),
      pings_(websocket_->executor()) {}

asio::awaitable<void> WebsocketSession::run(const Upgrade& upgrade) {
  const auto self = shared_from_this();
  const auto protocol = subprotocol(upgrade);
  const bool accepted = co_await websocket_->accept(upgrade, protocol);
  if (!accepted || gone_) co_return;
  number_ = ++host_.connections;
  asio::co_spawn(
      websocket_->executor(), [self] { return self->read(); }, asio::detached);
  asio::co_spawn(
      websocket_->executor(), [self] { return self->send_pings(); }, asio::detached);
  co_await serve();
  leave("client");
  websocket_->drop();
}

void WebsocketSession::abort() {
  websocket_->drop();
  leave("stopped");
}

asio::awaitable<void> WebsocketSession::send(Websocket::Kind kind, ByteView message) {
  const bool sent = co_await websocket_->write(kind, message);
  if (!sent) leave("client");
}

asio::awaitable<void> WebsocketSession::close(std::uint16_t code, const std::string& words) {
  why_ = "closed";
  co_await websocket_->close(code, words);
  leave("closed");
}

asio::awaitable<void> WebsocketSession::fail(const std::string& name,
                                             const std::string& /*message*/) {
  co_await close(close_code::policy_error, name);
}

asio::awaitable<bool> WebsocketSession::inject_at(std::uint64_t number,
                                                  std::optional<std::int64_t> seq) {
  bool damaged = false;
  if (host_.faults != nullptr) {
    const auto faults = host_.faults->take_for_frame(number, seq, SteadyClock::now());
    for (const auto& fault : faults) {
      log("fault", {{"fault", fault_name(fault.kind)}, {"frame", number}, {"seq", or_null(seq)}});
      damaged = damaged || fault.kind == FaultKind::corrupt;
      co_await inject(fault);
      if (gone_) break;
    }
  }
  if (!gone_ && lateness_.count() > 0) {
    const auto later = SteadyClock::now() + lateness_;
    co_await pause_until(later);
  }
  co_return damaged;
}

asio::awaitable<void> WebsocketSession::inject(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::cut:
      websocket_->drop();
      leave("cut");
      break;
    case FaultKind::stall: {
      const auto end = fault.delay.count() > 0 ? SteadyClock::now() + fault.delay
                                               : SteadyClock::time_point::max();
      co_await pause_until(end);
      break;
    }
    case FaultKind::slow:
      lateness_ = fault.delay;
      break;
    case FaultKind::error: {
      const std::string message = "as skua-sim was told";
      co_await fail(fault.name, message);
      break;
    }
    case FaultKind::info:
      co_await send_info();
      break;
    default:  // the caller handles corrupt; other kinds never occur here
      break;
  }
}

asio::awaitable<void> WebsocketSession::pause_until(SteadyClock::time_point when) {
  while (!gone_ && SteadyClock::now() < when) {
    ErrorCode ignored;
    auto token = asio::redirect_error(asio::use_awaitable, ignored);
    pause_.expires_at(when);
    co_await pause_.async_wait(token);
  }
}

asio::awaitable<void> WebsocketSession::wait() {
  if (gone_) co_return;
  ErrorCode ignored;
  auto token = asio::redirect_error(asio::use_awaitable, ignored);
  pause_.expires_at(SteadyClock::time_point::max());
  co_await pause_.async_wait(token);
}

asio::awaitable<void> WebsocketSession::read() {
  const auto self = shared_from_this();
  std::string message;
  while (!gone_) {
    const bool heard = co_await websocket_->read(message);
    // Messages that arrive after a connection was dropped are ignored: otherwise a restarted Tap
    // would apply an old ack to one of its new ids.
    if (!heard || gone_) break;
    co_await hear(message);
  }
  leave("client");
}

asio::awaitable<void> WebsocketSession::send_pings() {
  const auto self = shared_from_this();
  bool there = true;
  while (!gone_ && there) {
    ErrorCode ignored;
    auto token = asio::redirect_error(asio::use_awaitable, ignored);
    pings_.expires_after(kPingInterval);
    co_await pings_.async_wait(token);
    if (gone_) break;
    there = co_await websocket_->ping();
  }
}

void WebsocketSession::leave(std::string_view why) {
  if (gone_) return;
  gone_ = true;
  if (why_.empty()) why_ = why;
  pause_.cancel();
  pings_.cancel();
}

void WebsocketSession::log(std::string_view event, const Json& more) {
  Json line = {{"event", event}};
  if (!host_.name.empty()) line["server"] = host_.name;
  line["connection"] = number_;
  line.update(more);
  host_.log.write(line);
}

}  // namespace skua::sim
