#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <nlohmann/json.hpp>

#include "base/bytes.hpp"
#include "serve/connection.hpp"
#include "serve/event_frame.hpp"
#include "serve/fault.hpp"
#include "serve/http_message.hpp"

namespace skua::sim {

using Tcp = boost::asio::ip::tcp;
using TlsSocket = boost::asio::ssl::stream<Tcp::socket>;
/// The HTTP request for a websocket.
using Upgrade = boost::beast::http::request<boost::beast::http::string_body>;

/// The server's end of a websocket (RFC 6455), with or without TLS. Owned by its session, on the
/// thread of the io_context. At most one read and one write may be active. A function returns false
/// if the connection has ended.
class Websocket {
 public:
  enum class Kind : std::uint8_t { text, binary };

  virtual ~Websocket() = default;
  virtual boost::asio::any_io_executor executor() = 0;

  /// Accepts the upgrade with this subprotocol; an empty text means none.
  virtual boost::asio::awaitable<bool> accept(const Upgrade& upgrade,
                                              const std::string& subprotocol) = 0;
  /// Reads the client's next message. Meanwhile pings and the client's close are answered.
  virtual boost::asio::awaitable<bool> read(std::string& message) = 0;
  virtual boost::asio::awaitable<bool> write(Kind kind, ByteView message) = 0;
  virtual boost::asio::awaitable<bool> ping() = 0;
  /// Closes with a close handshake. `code` is a status code of RFC 6455, 7.4.
  virtual boost::asio::awaitable<void> close(std::uint16_t code, const std::string& words) = 0;
  /// Closes the TCP connection without a close handshake.
  virtual void drop() = 0;
};

std::unique_ptr<Websocket> make_websocket(Tcp::socket socket);
std::unique_ptr<Websocket> make_websocket(TlsSocket socket);

/// The state that the sessions of one kind on one server share. The object must outlive them.
struct SessionHost {
  EventLog& log;
  /// The name in log lines, which omit an empty name.
  std::string name;
  /// The faults of the connections; null if there are none.
  FaultPlan* faults = nullptr;
  /// The number of connections so far.
  int connections = 0;
};

/// One client of a websocket, from its upgrade to its end. Implements pings, reading, faults of the
/// connection and the log for all kinds of streams; the derived class sends. Keeps itself alive
/// while it runs, on the thread of the io_context.
class WebsocketSession : public Connection, public std::enable_shared_from_this<WebsocketSession> {
 public:
  /// Accepts the upgrade and serves until the connection ends. To be called once.
  boost::asio::awaitable<void> run(const Upgrade& upgrade);
  void abort() final;

 protected:
  using Json = nlohmann::ordered_json;
  using SteadyClock = std::chrono::steady_clock;

  WebsocketSession(SessionHost& host, std::unique_ptr<Websocket> websocket);

  /// Sends until `gone()` is true.
  virtual boost::asio::awaitable<void> serve() = 0;
  /// Handles a message of the client. The function may close the websocket or leave.
  virtual boost::asio::awaitable<void> hear(std::string_view /*message*/) { co_return; }
  /// Returns the subprotocol in the answer to the upgrade; empty if there is none.
  virtual std::string subprotocol(const Upgrade& /*upgrade*/) const { return {}; }
  /// Sends an error frame or a notice in the format of this stream. The default implementation
  /// closes the websocket with the name, and sends no notice.
  virtual boost::asio::awaitable<void> fail(const std::string& name, const std::string& message);
  virtual boost::asio::awaitable<void> send_info() { co_return; }

  boost::asio::awaitable<void> send(Websocket::Kind kind, ByteView message);
  boost::asio::awaitable<void> close(std::uint16_t code, const std::string& words);
  /// Applies the faults for the message that is about to be sent. `number` counts from 1. Returns
  /// true if the caller must corrupt the message itself.
  boost::asio::awaitable<bool> inject_at(std::uint64_t number, std::optional<std::int64_t> seq);
  /// Waits until this time, or until the connection ends.
  boost::asio::awaitable<void> pause_until(SteadyClock::time_point when);
  /// Waits for `wake`, or until the connection ends.
  boost::asio::awaitable<void> wait();
  void wake() { pause_.cancel(); }

  /// Ends the session. If several reasons are given, the first one is logged.
  void leave(std::string_view why);
  bool gone() const { return gone_; }
  const std::string& why() const { return why_; }
  int number() const { return number_; }
  void log(std::string_view event, const Json& more);

 private:
  boost::asio::awaitable<void> inject(const Fault& fault);
  boost::asio::awaitable<void> read();
  boost::asio::awaitable<void> send_pings();

  SessionHost& host_;
  std::unique_ptr<Websocket> websocket_;
  boost::asio::steady_timer pause_;
  boost::asio::steady_timer pings_;
  int number_ = 0;
  bool gone_ = false;
  std::string why_;
  std::chrono::milliseconds lateness_{0};
};

/// A websocket that a site serves on a path.
struct WebsocketOffer {
  /// Returns the answer that refuses the upgrade; nothing if the upgrade is accepted.
  std::function<std::optional<Response>(const Request&)> refuse;
  /// Creates the session of an accepted upgrade.
  std::function<std::shared_ptr<WebsocketSession>(const Request&, std::unique_ptr<Websocket>)> open;
};

/// Returns null if there is no number.
template <class Number>
nlohmann::ordered_json or_null(const std::optional<Number>& number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json(nullptr);
}

}  // namespace skua::sim
