#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http_server/exchange.hpp"

namespace skua::http_server {

/// The errors of clients beyond the limits.
inline constexpr const char* kTooManyConnections = "TooManyConnections";
inline constexpr const char* kConsumerTooSlow = "ConsumerTooSlow";

/// What clients may use. All clients are hostile.
struct Limits {
  std::size_t header_bytes = 16 * 1024;
  /// Of the body of a POST request.
  std::size_t body_bytes = 64 * 1024;
  /// Of a text message of a websocket client: 10,000 DIDs need 350 KB.
  std::size_t message_bytes = 512 * 1024;
  /// Connections in all, with those that have sent no request yet.
  std::size_t connections = 256;
  /// Of one IPv4 address or one /64 of IPv6.
  std::size_t connections_per_address = 32;
  /// Loopback addresses have no limit of their own: behind a reverse proxy all clients have one.
  bool loopback_is_exempt = true;
  /// From the connection to the end of the request, with its body.
  std::chrono::milliseconds request_time{10'000};
  /// From the request to the handler's answer.
  std::chrono::milliseconds answer_time{30'000};
  /// In which a client must take about 64 KiB. After it the client is too slow: the stream ends
  /// with that reason when the client takes the rest within `grace_time`, otherwise without one.
  std::chrono::milliseconds write_time{15'000};
  std::chrono::milliseconds grace_time{5'000};
  /// Between heartbeats of a stream.
  std::chrono::milliseconds heartbeat{15'000};
  /// A websocket client answers a ping within this time.
  std::chrono::milliseconds idle_time{60'000};
};

/// An HTTP/1.1 server for GET requests, streams and POST requests of JSON, with one request for
/// each connection. It has one thread. No TLS: a reverse proxy can add it.
class Server {
 public:
  /// Called on the server's thread; it must not block.
  using Handler = std::function<void(std::shared_ptr<Exchange>)>;
  /// Decides from the header of a request, whose body is not read yet; its answer refuses the
  /// request. Called on the server's thread; it must not block.
  using Guard = std::function<std::optional<Response>(const Request&)>;

  struct Options {
    /// An IP address; port 0: a free one.
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;
    Limits limits = {};
    /// The names, in lower case, that a request may have as its host besides `localhost` and IP
    /// addresses. Others are refused (403) if the address is a loopback address, or if there are
    /// names here. Web pages of other origins are always refused (403).
    std::vector<std::string> hosts = {};
    /// The setting that fills `hosts`, for the refusal.
    std::string hosts_setting = {};
    /// Called on the server's thread for each client beyond the limits, with the error that it
    /// gets: `kTooManyConnections` or `kConsumerTooSlow`. Null: they are not counted.
    std::function<void(std::string_view error)> on_limit = nullptr;
  };

  struct Route {
    /// Other methods get 405.
    Method method = Method::Get;
    /// Null: the path does not exist (404), but the guard decides first.
    Handler handler;
    /// Comes before the checks of the method and the body; null: none.
    Guard guard = nullptr;
  };
  /// By path. A path that ends in `/*` is for all paths below it that have no route of their own;
  /// the longest one counts.
  using Routes = std::map<std::string, Route, std::less<>>;

  /// Listens; connections wait until `start`. Throws std::runtime_error if the address is malformed
  /// or not available.
  Server(Options options, Routes routes);
  /// Stops.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  void start();
  /// Ends all streams with the reason `ServerStopped`, all other connections without one, and the
  /// thread. Takes at most a second. Idempotent.
  void stop();

  /// Open connections. Any thread.
  std::size_t connections() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Whether an IP address is a loopback address. False for what is no address.
bool is_loopback(std::string_view address);

/// The part of an IP address that limits count: an IPv6 address without its last 64 bits, which its
/// host can choose. Text that is not an address stays unchanged.
std::string counted_address(std::string_view address);

}  // namespace skua::http_server
