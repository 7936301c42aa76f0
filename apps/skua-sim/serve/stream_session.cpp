#include "stream_session.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "event_frame.hpp"

namespace skua::sim {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

using Json = nlohmann::ordered_json;
using ErrorCode = boost::system::error_code;
using SteadyClock = std::chrono::steady_clock;

/// Give it a name before the `co_await`: GCC 12.2 destroys temporaries in such an expression twice.
auto into(ErrorCode& error) {
  return asio::redirect_error(asio::use_awaitable, error);
}

template <class Number>
Json or_null(const std::optional<Number>& number) {
  return number ? Json(*number) : Json(nullptr);
}

template <class NextLayer>
class WebsocketSession final : public StreamSession,
                               public std::enable_shared_from_this<WebsocketSession<NextLayer>> {
 public:
  WebsocketSession(StreamHost& host, NextLayer next_layer)
      : host_(host),
        websocket_(std::move(next_layer)),
        pause_(websocket_.get_executor(), SteadyClock::time_point::max()),
        pings_(websocket_.get_executor()) {}

  asio::awaitable<void> run(const Upgrade& upgrade, std::optional<std::int64_t> cursor) override {
    const auto self = this->shared_from_this();
    ErrorCode error;
    auto token = into(error);
    co_await websocket_.async_accept(upgrade, token);
    if (error || gone_) co_return;
    websocket_.binary(true);
    websocket_.auto_fragment(false);
    number_ = ++host_.connections;
    progress_.cursor = cursor;
    host_.open.emplace(number_, &progress_);
    co_await serve(cursor);
    host_.open.erase(number_);
  }

  void abort() override {
    ErrorCode ignored;
    beast::get_lowest_layer(websocket_).close(ignored);
    leave("stopped");
  }

 private:
  const StreamBehaviour& behaviour() const { return host_.behaviour; }

  asio::awaitable<void> serve(std::optional<std::int64_t> cursor) {
    auto& source = host_.source;
    const auto position = cursor ? source.position_after(*cursor, behaviour().inclusive)
                                 : std::clamp(behaviour().live_from, source.begin(), source.end());
    std::optional<std::int64_t> first_seq;
    for (auto i = position; i < source.end() && !first_seq; ++i) first_seq = source.seq(i);
    log("connect", {{"cursor", cursor ? Json(std::to_string(*cursor)) : Json(nullptr)},
                    {"first_seq", or_null(first_seq)}});

    const auto self = this->shared_from_this();
    asio::co_spawn(
        websocket_.get_executor(), [self] { return self->read(); }, asio::detached);
    asio::co_spawn(
        websocket_.get_executor(), [self] { return self->send_pings(); }, asio::detached);

    if (cursor && behaviour().future_cursor_error && *cursor > source.last_seq().value_or(0)) {
      const std::string name = "FutureCursor";
      const std::string message = "Cursor in the future.";
      co_await fail(name, message);
    } else {
      const auto oldest = source.first_seq();
      if (cursor && oldest && *cursor + 1 < *oldest && behaviour().outdated_cursor_info) {
        co_await send_info();
      }
      co_await send_from(position);
    }
    leave("client");
    log("disconnect",
        {{"why", why_}, {"frames", progress_.sent}, {"last_seq", or_null(progress_.last_seq)}});
  }

  asio::awaitable<void> send_from(std::uint64_t position) {
    auto& source = host_.source;
    const auto start = SteadyClock::now();
    std::size_t paced = 0;
    bool caught_up = false;
    while (!gone_) {
      if (position >= source.end()) {
        if (!caught_up) {
          log("caught_up", {{"frames", progress_.sent}, {"last_seq", or_null(progress_.last_seq)}});
        }
        caught_up = true;
        if (source.grows()) {
          co_await growth_past(position);
        } else if (behaviour().close_at_end) {
          const std::string words = "end of the capture";
          co_await close(websocket::close_code::normal, words);
        } else {
          co_await pause_until(SteadyClock::time_point::max());
        }
        continue;
      }
      const bool corrupt = co_await suffer_at(position);
      if (gone_) co_return;
      if (lateness_.count() > 0) {
        const auto later = SteadyClock::now() + lateness_;
        co_await pause_until(later);
      }
      if (behaviour().rate > 0) {
        const std::chrono::duration<double> offset(static_cast<double>(paced++) / behaviour().rate);
        const auto due = start + std::chrono::duration_cast<SteadyClock::duration>(offset);
        co_await pause_until(due);
      }
      if (gone_) co_return;
      if (position < source.begin()) {
        const std::string name = "ConsumerTooSlow";
        const std::string message = "what comes next is no longer kept";
        co_await fail(name, message);
        co_return;
      }
      const auto frame = source.frame(position);
      const auto seq = source.seq(position);
      if (corrupt) {
        const auto damaged = corrupted(*frame);
        co_await send(damaged);
      } else {
        co_await send(*frame);
      }
      if (gone_) co_return;
      ++progress_.sent;
      if (seq) progress_.last_seq = seq;
      ++position;
    }
  }

  /// Whether the frame itself is to be damaged.
  asio::awaitable<bool> suffer_at(std::uint64_t position) {
    bool corrupt = false;
    if (host_.faults == nullptr || position < host_.source.begin()) co_return corrupt;
    const auto seq = host_.source.seq(position);
    const auto now = SteadyClock::now();
    const auto faults = host_.faults->take_for_frame(position + 1, seq, now);
    for (const auto& fault : faults) {
      log("fault",
          {{"fault", fault_name(fault.kind)}, {"frame", position + 1}, {"seq", or_null(seq)}});
      corrupt = corrupt || fault.kind == FaultKind::corrupt;
      co_await suffer(fault);
      if (gone_) break;
    }
    co_return corrupt;
  }

  asio::awaitable<void> suffer(const Fault& fault) {
    switch (fault.kind) {
      case FaultKind::cut: {
        ErrorCode ignored;
        beast::get_lowest_layer(websocket_).close(ignored);
        leave("cut");
        break;
      }
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
      default:  // corrupt is the caller's part; the rest never comes here
        break;
    }
  }

  asio::awaitable<void> send(const Bytes& frame) {
    ErrorCode error;
    auto token = into(error);
    const auto buffer = asio::buffer(frame.data(), frame.size());
    co_await websocket_.async_write(buffer, token);
    if (error) leave("client");
  }

  asio::awaitable<void> send_info() {
    const auto frame = info_frame("OutdatedCursor", "what the cursor asks for is no longer kept");
    co_await send(frame);
  }

  asio::awaitable<void> fail(const std::string& name, const std::string& message) {
    const auto frame = error_frame(name, message);
    co_await send(frame);
    co_await close(websocket::close_code::policy_error, name);
  }

  asio::awaitable<void> close(websocket::close_code code, const std::string& words) {
    ErrorCode ignored;
    auto token = into(ignored);
    why_ = "closed";
    const websocket::close_reason reason(code, words);
    co_await websocket_.async_close(reason, token);
    leave("closed");
  }

  /// Waits until then, or until the connection ends.
  asio::awaitable<void> pause_until(SteadyClock::time_point when) {
    while (!gone_ && SteadyClock::now() < when) {
      ErrorCode ignored;
      auto token = into(ignored);
      pause_.expires_at(when);
      co_await pause_.async_wait(token);
    }
  }

  /// Waits until the source has a frame at `position`, or until the connection ends.
  asio::awaitable<void> growth_past(std::uint64_t position) {
    auto& source = host_.source;
    while (!gone_ && source.end() <= position) {
      ErrorCode ignored;
      auto done = into(ignored);
      pause_.expires_at(SteadyClock::time_point::max());
      const auto waiting = source.when_past(position, [this] { pause_.cancel(); });
      co_await pause_.async_wait(done);
    }
  }

  /// Takes pings, pongs and the close; what a client says is dropped.
  asio::awaitable<void> read() {
    const auto self = this->shared_from_this();
    beast::flat_buffer buffer;
    ErrorCode error;
    auto token = into(error);
    while (!error) {
      buffer.clear();
      co_await websocket_.async_read(buffer, token);
    }
    leave("client");
  }

  asio::awaitable<void> send_pings() {
    const auto self = this->shared_from_this();
    ErrorCode error;
    auto token = into(error);
    const websocket::ping_data nothing;
    while (!gone_ && !error) {
      pings_.expires_after(behaviour().ping_interval);
      co_await pings_.async_wait(token);
      if (!gone_) co_await websocket_.async_ping(nothing, token);
    }
  }

  /// The first reason counts.
  void leave(std::string_view why) {
    if (gone_) return;
    gone_ = true;
    if (why_.empty()) why_ = why;
    pause_.cancel();
    pings_.cancel();
  }

  void log(std::string_view event, const Json& more) {
    Json line = {{"event", event}};
    if (!host_.name.empty()) line["server"] = host_.name;
    line["connection"] = number_;
    line.update(more);
    host_.log.write(line);
  }

  StreamHost& host_;
  websocket::stream<NextLayer, false> websocket_;  // false: no permessage-deflate
  asio::steady_timer pause_;
  asio::steady_timer pings_;
  int number_ = 0;
  StreamProgress progress_;
  bool gone_ = false;
  std::string why_;
  std::chrono::milliseconds lateness_{0};
};

}  // namespace

std::shared_ptr<StreamSession> make_stream_session(StreamHost& host, Tcp::socket socket) {
  return std::make_shared<WebsocketSession<Tcp::socket>>(host, std::move(socket));
}

std::shared_ptr<StreamSession> make_stream_session(StreamHost& host, TlsSocket socket) {
  return std::make_shared<WebsocketSession<TlsSocket>>(host, std::move(socket));
}

}  // namespace skua::sim
