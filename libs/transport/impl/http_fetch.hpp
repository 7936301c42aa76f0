#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>

#include "base/result.hpp"
#include "transport/endpoint.hpp"
#include "transport/http_client.hpp"
#include "transport/impl/address_lookup.hpp"
#include "transport/impl/asio_types.hpp"
#include "transport/impl/connection.hpp"
#include "transport/impl/connection_pool.hpp"
#include "transport/impl/inbox.hpp"

namespace skua::transport::impl {

/// What all requests of a client share. Outlives them, except for look-ups, which only have the
/// inbox.
struct HttpContext {
  boost::asio::io_context& io;
  std::shared_ptr<Inbox> inbox;
  boost::asio::ssl::context& tls;
  const HttpClientOptions& options;
  ConnectionPool& pool;
};

/// One request with its redirects. Lives on the client's thread, owned by the coroutine.
class HttpFetch : public std::enable_shared_from_this<HttpFetch> {
 public:
  HttpFetch(const HttpContext& context, HttpRequest request);

  /// Once.
  Awaitable<Result<HttpAnswer>> run();

  /// Ends it soon, with http_stopped.
  void stop();

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  Awaitable<Result<HttpAnswer>> ask(const Endpoint& url, HostOrigin origin, bool is_first);
  /// A connection of its own, with TLS if need be.
  Awaitable<ErrorCode> open(const Endpoint& url, bool any_address);
  /// The addresses of a host that may be connected to, eight at most.
  Awaitable<Result<std::vector<Tcp::endpoint>>> find_addresses(const Endpoint& url,
                                                               bool any_address);
  Awaitable<ErrorCode> connect(const std::vector<Tcp::endpoint>& addresses);
  Awaitable<ErrorCode> start_tls(const Endpoint& url);
  /// Asks on `connection_`, which goes to the pool afterwards if it may be used again.
  Awaitable<Result<HttpAnswer>> exchange(const Endpoint& url, bool is_first);

  /// The error that explains the end: ours, when we ended it ourselves.
  ErrorCode reason(ErrorCode otherwise) const;
  void abort(ErrorCode why);
  void set_deadline(TimePoint at, ErrorCode why);
  void clear_deadline();
  /// Ends it when one of the windows from now on brings too little.
  void watch_speed(std::uint64_t min_bytes_per_second);
  bool is_below_average() const;
  void count(std::size_t bytes);

  const HttpContext& context_;
  const HttpRequest request_;
  AddressLookup lookup_;
  Timer deadline_;  // of connecting, later of the whole or of a window
  Timer step_;      // of one address
  TimePoint end_;
  TimePoint connect_end_;
  std::unique_ptr<Connection> connection_;
  /// A byte of the answer has come.
  bool heard_ = false;
  std::uint64_t received_ = 0;
  TimePoint body_began_;
  std::uint64_t received_before_body_ = 0;
  /// Set when we gave up ourselves.
  ErrorCode aborted_;
};

}  // namespace skua::transport::impl
