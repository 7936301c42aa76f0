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

#include "http_server/client_address.hpp"
#include "http_server/exchange.hpp"

namespace skua::http_server {

/// The errors that clients beyond the limits get.
inline constexpr const char* kTooManyConnections = "TooManyConnections";
inline constexpr const char* kConsumerTooSlow = "ConsumerTooSlow";

/// The limits for clients, all of which count as hostile.
struct Limits {
  std::size_t header_bytes = 16 * 1024;
  /// The limit for the body of a POST request.
  std::size_t body_bytes = 64 * 1024;
  /// The limit for a text message of a websocket client. 10,000 DIDs need 350 KB.
  std::size_t message_bytes = 512 * 1024;
  /// The limit for all connections, including connections without a request.
  std::size_t connections = 256;
  /// The limit for the connections of one IPv4 address or of one /64 of IPv6.
  std::size_t connections_per_address = 32;
  /// Whether loopback addresses have no limit of their own. Behind a reverse proxy that
  /// Server::Options::proxies does not name, all clients can have a loopback address.
  bool loopback_is_exempt = true;
  /// The time from the connection to the end of the request, including the body.
  std::chrono::milliseconds request_time{10'000};
  /// The time from the request to the handler's answer.
  std::chrono::milliseconds answer_time{30'000};
  /// The time in which a client must take about 64 KiB. A slower client loses its stream: with a
  /// reason if the client takes the rest within `grace_time`, otherwise without a reason.
  std::chrono::milliseconds write_time{15'000};
  std::chrono::milliseconds grace_time{5'000};
  /// The time between heartbeats of a stream.
  std::chrono::milliseconds heartbeat{15'000};
  /// The time in which a websocket client must answer a ping.
  std::chrono::milliseconds idle_time{60'000};
};

/// An HTTP/1.1 server for GET requests, streams and POST requests with JSON. Each connection has
/// one request. The server has one thread. It has no TLS: a reverse proxy can add TLS.
class Server {
 public:
  /// The server calls a handler on its thread, and the handler must not block.
  using Handler = std::function<void(std::shared_ptr<Exchange>)>;
  /// Decides from the header of a request, before the body is read. An answer refuses the request.
  /// The server calls a guard on its thread, and the guard must not block.
  using Guard = std::function<std::optional<Response>(const Request&)>;

  struct Options {
    /// An IP address and a port. Port 0 selects a free port.
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;
    Limits limits = {};
    /// The names, in lower case, that a request may have as its host besides `localhost` and IP
    /// addresses. Other names are refused (403) if `address` is a loopback address or if `hosts` is
    /// not empty. Web pages of other origins are always refused (403).
    std::vector<std::string> hosts = {};
    /// The name of the setting that fills `hosts`, for the text of the refusal.
    std::string hosts_setting = {};
    /// The reverse proxies whose header X-Forwarded-For names the client (`client_address`). Their
    /// connections count for the client's address. Other clients cannot use the header.
    std::vector<AddressRange> proxies = {};
    /// Called on the server's thread for each client beyond the limits, with the client's error:
    /// `kTooManyConnections` or `kConsumerTooSlow`. With null these clients are not counted.
    std::function<void(std::string_view error)> on_limit = nullptr;
  };

  struct Route {
    /// A request with another method gets 405.
    Method method = Method::Get;
    /// A null handler means that the path does not exist (404), but the guard decides first.
    Handler handler;
    /// The guard decides before the checks of the method and the body. Null if the route has no
    /// guard.
    Guard guard = nullptr;
  };
  /// The routes by path. A path that ends in `/*` is for all paths below it that have no route of
  /// their own. Of several such paths the longest counts.
  using Routes = std::map<std::string, Route, std::less<>>;

  /// Listens. Connections wait until `start`. Throws std::runtime_error if the address is malformed
  /// or not available.
  Server(Options options, Routes routes);
  /// Calls `stop`.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  void start();
  /// Ends all streams with the reason `ServerStopped`, all other connections without a reason, and
  /// the thread. Takes at most a second. Idempotent.
  void stop();

  /// The number of open connections. Any thread.
  std::size_t connections() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::http_server
