#include "serve/http_connection.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include "serve/http_message.hpp"
#include "serve/websocket_session.hpp"

namespace skua::sim {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;

using ErrorCode = boost::system::error_code;

constexpr std::size_t kMaxRequestBody = 4 * 1024 * 1024;
/// A body is sent in pieces of this size, so that a slow client delays only itself.
constexpr std::size_t kPiece = 64 * 1024;
/// The interval between pieces of a body that is sent slowly, and their number in a second.
constexpr std::chrono::milliseconds kSlowPiece(100);
constexpr std::size_t kSlowPieces = std::chrono::seconds(1) / kSlowPiece;

/// Returns the size of the pieces in which the body of the response is sent.
std::size_t piece_size(const Response& response) {
  if (response.bytes_per_second == 0) return kPiece;
  return std::max<std::size_t>(1, response.bytes_per_second / kSlowPieces);
}

Request to_request(const http::request<http::string_body>& message) {
  const auto view = [](beast::string_view text) {
    return std::string_view(text.data(), text.size());
  };
  auto request = parse_request(view(message.method_string()), view(message.target()),
                               view(message[http::field::host]), message.body());
  request.authorization = view(message[http::field::authorization]);
  return request;
}

/// Counts a request until its answer has been sent.
class Counted {
 public:
  explicit Counted(RequestLoad& load) : load_(load) {
    load_.begin(std::chrono::steady_clock::now());
  }
  ~Counted() { load_.end(); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  RequestLoad& load_;
};

template <class NextLayer>
class HttpConnection final : public Connection,
                             public std::enable_shared_from_this<HttpConnection<NextLayer>> {
 public:
  static constexpr bool kTls = std::is_same_v<NextLayer, TlsSocket>;

  template <class... Args>
  explicit HttpConnection(Site& site, Args&&... next_layer)
      : site_(site), socket_(std::forward<Args>(next_layer)...), timer_(socket_.get_executor()) {}

  void start() {
    asio::co_spawn(
        socket_.get_executor(), [self = this->shared_from_this()] { return self->run(); },
        asio::detached);
  }

  void abort() override {
    gone_ = true;
    if (session_) return session_->abort();
    close();
    timer_.cancel();
  }

 private:
  asio::awaitable<void> run() {
    const auto self = this->shared_from_this();
    ErrorCode error;
    auto token = into(error);
    beast::get_lowest_layer(socket_).set_option(Tcp::no_delay(true), error);
    if constexpr (kTls) {
      co_await socket_.async_handshake(asio::ssl::stream_base::server, token);
      if (error) {
        site_.log.write({{"event", "tls_refused"}, {"error", error.message()}});
        co_return;
      }
    }
    beast::flat_buffer buffer;
    bool keep_alive = true;
    while (keep_alive && !gone_) {
      http::request_parser<http::string_body> parser;
      parser.body_limit(kMaxRequestBody);
      co_await http::async_read(socket_, buffer, parser, token);
      if (error || gone_) break;
      const auto message = parser.release();
      const auto request = to_request(message);
      keep_alive = message.keep_alive();
      const auto offer = site_.websockets.find(request.path);
      Response response;
      std::optional<Counted> counted;
      if (auto refused = unauthorized(site_, request)) {
        response = *std::move(refused);
        log_answer(site_, request, response);
      } else if (offer == site_.websockets.end()) {
        counted.emplace(site_.load);
        if (site_.delay.count() > 0) {
          timer_.expires_after(site_.delay);
          co_await timer_.async_wait(token);
          if (gone_) break;
        }
        response = answer(site_, request);
      } else if (auto against = offer->second.refuse(request)) {
        response = *std::move(against);
        log_answer(site_, request, response);
      } else if (websocket::is_upgrade(message)) {
        session_ = offer->second.open(request, make_websocket(std::move(socket_)));
        co_await session_->run(message);
        co_return;
      } else {
        response = error_response(426, "UpgradeRequired", "this is a websocket");
        log_answer(site_, request, response);
      }
      const bool head_only = message.method() == http::verb::head;
      const bool whole = co_await send(response, keep_alive, head_only);
      if (!whole) break;
    }
    if (!gone_) beast::get_lowest_layer(socket_).shutdown(Tcp::socket::shutdown_send, error);
  }

  /// Sends an answer. Returns false if the connection has ended, which is also the effect of
  /// `cut_after`.
  asio::awaitable<bool> send(const Response& response, bool keep_alive, bool head_only) {
    const bool head_sent = co_await send_head(response, keep_alive);
    if (!head_sent || head_only) co_return head_sent;
    const auto whole = response.body.size();
    const auto size = std::min(response.cut_after.value_or(whole), whole);
    const bool body_sent = co_await send_body(response, size);
    if (!body_sent) co_return false;
    if (response.cut_after) close();
    co_return !response.cut_after;
  }

  /// Sends the head, which promises the whole body. Returns false if the connection has ended.
  asio::awaitable<bool> send_head(const Response& response, bool keep_alive) {
    http::response<http::empty_body> head;
    head.result(response.status);
    head.keep_alive(keep_alive);
    head.set(http::field::content_type, response.content_type);
    for (const auto& [name, value] : response.headers) head.set(name, value);
    head.content_length(response.body.size());
    http::response_serializer<http::empty_body> serializer(head);
    ErrorCode error;
    auto token = into(error);
    co_await http::async_write_header(socket_, serializer, token);
    co_return !error;
  }

  /// Sends the first `size` bytes of the body at the speed of the response. Returns false if the
  /// connection has ended.
  asio::awaitable<bool> send_body(const Response& response, std::size_t size) {
    ErrorCode error;
    auto token = into(error);
    const std::size_t piece = piece_size(response);
    for (std::size_t sent = 0; sent < size;) {
      const auto next = asio::buffer(response.body.data() + sent, std::min(piece, size - sent));
      const std::size_t written = co_await asio::async_write(socket_, next, token);
      sent += written;
      if (error || gone_) co_return false;
      if (response.bytes_per_second == 0) continue;
      timer_.expires_after(kSlowPiece);
      co_await timer_.async_wait(token);
      if (gone_) co_return false;
    }
    co_return true;
  }

  void close() {
    ErrorCode ignored;
    beast::get_lowest_layer(socket_).close(ignored);
  }

  Site& site_;
  NextLayer socket_;
  asio::steady_timer timer_;
  std::shared_ptr<WebsocketSession> session_;
  bool gone_ = false;
};

}  // namespace

std::shared_ptr<Connection> serve_connection(Tcp::socket socket, asio::ssl::context* tls,
                                             Site& site) {
  if (tls != nullptr) {
    const auto connection =
        std::make_shared<HttpConnection<TlsSocket>>(site, std::move(socket), *tls);
    connection->start();
    return connection;
  }
  const auto connection = std::make_shared<HttpConnection<Tcp::socket>>(site, std::move(socket));
  connection->start();
  return connection;
}

}  // namespace skua::sim
