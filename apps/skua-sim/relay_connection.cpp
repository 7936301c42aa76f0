#include "relay_connection.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "repo/dag_cbor_writer.hpp"
#include "stream_request.hpp"

namespace skua::sim {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;

using Json = nlohmann::ordered_json;
using Tcp = asio::ip::tcp;
using TlsSocket = asio::ssl::stream<Tcp::socket>;
using ErrorCode = boost::system::error_code;
using SteadyClock = std::chrono::steady_clock;

/// Give it a name before the `co_await`: GCC 12.2 destroys temporaries in such an expression twice.
auto into(ErrorCode& error) {
  return asio::redirect_error(asio::use_awaitable, error);
}

/// `{op: -1}` and `{error, message}` (atproto.com/specs/event-stream).
Bytes error_frame(const std::string& name, const std::string& message) {
  Bytes frame;
  repo::CborWriter writer(frame);
  writer.map(1);
  writer.string("op");
  writer.integer(-1);
  writer.map(2);
  writer.string("error");
  writer.string(name);
  writer.string("message");
  writer.string(message);
  return frame;
}

Json or_null(std::optional<std::int64_t> number) {
  return number ? Json(*number) : Json(nullptr);
}

template <class NextLayer>
class RelayConnection final : public Connection,
                              public std::enable_shared_from_this<RelayConnection<NextLayer>> {
 public:
  static constexpr bool kTls = std::is_same_v<NextLayer, TlsSocket>;

  template <class... Args>
  explicit RelayConnection(RelayState& state, Args&&... next_layer)
      : state_(state),
        websocket_(std::forward<Args>(next_layer)...),
        pause_(websocket_.get_executor(), SteadyClock::time_point::max()),
        pings_(websocket_.get_executor()) {}

  void start() {
    asio::co_spawn(
        websocket_.get_executor(), [self = this->shared_from_this()] { return self->run(); },
        asio::detached);
  }

  void abort() override {
    ErrorCode ignored;
    beast::get_lowest_layer(websocket_).close(ignored);
    leave("stopped");
  }

 private:
  const RelayBehaviour& behaviour() const { return state_.behaviour; }

  asio::awaitable<void> run() {
    const auto self = this->shared_from_this();
    ErrorCode error;
    auto token = into(error);
    beast::get_lowest_layer(websocket_).set_option(Tcp::no_delay(true), error);
    if constexpr (kTls) {
      co_await websocket_.next_layer().async_handshake(asio::ssl::stream_base::server, token);
      if (error) {
        state_.log.write({{"event", "tls_refused"}, {"error", error.message()}});
        co_return;
      }
    }
    beast::flat_buffer buffer;
    http::request<http::string_body> request;
    co_await http::async_read(websocket_.next_layer(), buffer, request, token);
    if (error) co_return;
    const std::string target(request.target());
    const auto asked = parse_target(target);
    if (asked.kind != StreamRequest::Kind::SubscribeRepos || !websocket::is_upgrade(request)) {
      co_await answer(request, asked.kind);
      co_return;
    }
    co_await websocket_.async_accept(request, token);
    if (error) co_return;
    number_ = ++state_.connections;
    websocket_.binary(true);
    websocket_.auto_fragment(false);
    co_await serve(asked.cursor);
  }

  asio::awaitable<void> answer(const http::request<http::string_body>& request,
                               StreamRequest::Kind kind) {
    http::response<http::string_body> response;
    response.version(request.version());
    response.keep_alive(false);
    response.set(http::field::content_type, "application/json");
    Json body;
    switch (kind) {
      case StreamRequest::Kind::Health:
        body = {{"version", "skua-sim"}};
        break;
      case StreamRequest::Kind::SubscribeRepos:
        response.result(http::status::upgrade_required);
        body = {{"error", "UpgradeRequired"}, {"message", "this is a websocket"}};
        break;
      case StreamRequest::Kind::BadCursor:
        response.result(http::status::bad_request);
        body = {{"error", "InvalidRequest"}, {"message", "cursor must be a number"}};
        break;
      case StreamRequest::Kind::Unknown:
        response.result(http::status::not_found);
        body = {{"error", "NotFound"}, {"message", "no such path"}};
        break;
    }
    state_.log.write({{"event", "request"},
                      {"target", std::string(request.target())},
                      {"status", response.result_int()}});
    response.body() = body.dump() + "\n";
    response.prepare_payload();
    ErrorCode error;
    auto token = into(error);
    co_await http::async_write(websocket_.next_layer(), response, token);
    beast::get_lowest_layer(websocket_).shutdown(Tcp::socket::shutdown_send, error);
  }

  asio::awaitable<void> serve(std::optional<std::int64_t> cursor) {
    const auto& capture = state_.capture;
    auto position = cursor ? capture.position_after(*cursor, behaviour().inclusive)
                           : std::min(behaviour().live_from, capture.size());
    std::optional<std::int64_t> first_seq;
    for (auto i = position; i < capture.size() && !first_seq; ++i) first_seq = capture.seq(i);
    log("connect", {{"cursor", cursor ? Json(std::to_string(*cursor)) : Json(nullptr)},
                    {"first_seq", or_null(first_seq)}});

    const auto self = this->shared_from_this();
    asio::co_spawn(
        websocket_.get_executor(), [self] { return self->read(); }, asio::detached);
    asio::co_spawn(
        websocket_.get_executor(), [self] { return self->send_pings(); }, asio::detached);

    const auto last = capture.last_seq();
    if (cursor && behaviour().future_cursor_error && (!last || *cursor > *last)) {
      const std::string name = "FutureCursor";
      co_await fail(name, "Cursor in the future.");
    } else {
      co_await send_from(position);
    }
    leave("client");
    log("disconnect", {{"why", why_}, {"frames", sent_}, {"last_seq", or_null(last_seq_)}});
  }

  asio::awaitable<void> send_from(std::size_t position) {
    const auto& capture = state_.capture;
    const auto start = SteadyClock::now();
    std::size_t paced = 0;
    for (; position < capture.size() && !gone_; ++position) {
      bool corrupt = false;
      for (const auto& fault : state_.faults.take(position + 1, capture.seq(position))) {
        log("fault", {{"fault", kind_name(fault.kind)},
                      {"frame", position + 1},
                      {"seq", or_null(capture.seq(position))}});
        corrupt = corrupt || fault.kind == Fault::Kind::Corrupt;
        co_await suffer(fault);
        if (gone_) co_return;
      }
      if (lateness_.count() > 0) co_await pause_until(SteadyClock::now() + lateness_);
      if (behaviour().rate > 0) {
        const std::chrono::duration<double> offset(static_cast<double>(paced++) / behaviour().rate);
        co_await pause_until(start + std::chrono::duration_cast<SteadyClock::duration>(offset));
      }
      if (gone_) co_return;
      if (corrupt) {
        const auto damaged = capture.corrupted(position);
        co_await send(damaged);
      } else {
        co_await send(capture.frame(position));
      }
      if (gone_) co_return;
      ++sent_;
      if (const auto seq = capture.seq(position)) last_seq_ = seq;
    }
    if (gone_) co_return;
    log("caught_up", {{"frames", sent_}, {"last_seq", or_null(last_seq_)}});
    if (behaviour().close_at_end) {
      co_await close(websocket::close_code::normal, "end of the capture");
    } else {
      co_await pause_until(SteadyClock::time_point::max());
    }
  }

  asio::awaitable<void> suffer(const Fault& fault) {
    switch (fault.kind) {
      case Fault::Kind::Cut: {
        ErrorCode ignored;
        beast::get_lowest_layer(websocket_).close(ignored);
        leave("cut");
        break;
      }
      case Fault::Kind::Stall:
        co_await pause_until(fault.delay.count() > 0 ? SteadyClock::now() + fault.delay
                                                     : SteadyClock::time_point::max());
        break;
      case Fault::Kind::Slow:
        lateness_ = fault.delay;
        break;
      case Fault::Kind::Error: {
        const std::string message = "as skua-sim was told";
        co_await fail(fault.name, message);
        break;
      }
      case Fault::Kind::Corrupt:
        break;
    }
  }

  asio::awaitable<void> send(ByteView frame) {
    ErrorCode error;
    auto token = into(error);
    const auto buffer = asio::buffer(frame.data(), frame.size());
    co_await websocket_.async_write(buffer, token);
    if (error) leave("client");
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

  void log(std::string_view event, Json more) {
    Json line = {{"event", event}, {"connection", number_}};
    line.update(more);
    state_.log.write(line);
  }

  RelayState& state_;
  websocket::stream<NextLayer, false> websocket_;  // false: no permessage-deflate
  asio::steady_timer pause_;
  asio::steady_timer pings_;
  int number_ = 0;
  bool gone_ = false;
  std::string why_;
  std::chrono::milliseconds lateness_{0};
  std::size_t sent_ = 0;
  std::optional<std::int64_t> last_seq_;
};

}  // namespace

std::shared_ptr<Connection> serve_connection(Tcp::socket socket, asio::ssl::context* tls,
                                             RelayState& state) {
  if (tls != nullptr) {
    const auto connection =
        std::make_shared<RelayConnection<TlsSocket>>(state, std::move(socket), *tls);
    connection->start();
    return connection;
  }
  const auto connection = std::make_shared<RelayConnection<Tcp::socket>>(state, std::move(socket));
  connection->start();
  return connection;
}

}  // namespace skua::sim
