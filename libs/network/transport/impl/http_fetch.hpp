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
#include "transport/impl/connection_pool.hpp"
#include "transport/impl/inbox.hpp"

namespace skua::transport::impl {

/// The state that all requests of a client share. It outlives the requests. Only look-ups may
/// outlive it, and they use only the inbox.
struct HttpContext {
  boost::asio::io_context& io;
  std::shared_ptr<Inbox> inbox;
  boost::asio::ssl::context& tls;
  const HttpClientOptions& options;
  ConnectionPool& pool;
};

/// One request with its redirects. The coroutine owns it, on the client's thread.
class HttpFetch : public std::enable_shared_from_this<HttpFetch> {
 public:
  HttpFetch(const HttpContext& context, HttpRequest request);

  /// Must be called once.
  Awaitable<Result<HttpAnswer>> run();

  /// Ends the request soon, with http_stopped.
  void stop();

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  Awaitable<Result<HttpAnswer>> ask(const Endpoint& url, HostOrigin origin, bool is_first);
  /// Opens a new connection, with TLS if the scheme requires it.
  Awaitable<ErrorCode> open(const Endpoint& url, bool any_address);
  /// Returns the addresses of a host that the client may connect to, at most eight.
  Awaitable<Result<std::vector<Tcp::endpoint>>> find_addresses(const Endpoint& url,
                                                               bool any_address);
  Awaitable<ErrorCode> connect(const std::vector<Tcp::endpoint>& addresses);
  Awaitable<ErrorCode> start_tls(const Endpoint& url);
  /// Sends the request on `connection_`, which goes to the pool afterwards if it can be reused.
  Awaitable<Result<HttpAnswer>> exchange(const Endpoint& url, bool is_first);

  /// Returns the error that explains the end: our own error if this client ended the request.
  ErrorCode reason(ErrorCode otherwise) const;
  void abort(ErrorCode why);
  void set_deadline(TimePoint at, ErrorCode why);
  void clear_deadline();
  /// Ends the request if a window receives too few bytes.
  void watch_speed(std::uint64_t min_bytes_per_second);
  bool is_below_average() const;
  void count(std::size_t bytes);

  const HttpContext& context_;
  const HttpRequest request_;
  AddressLookup lookup_;
  Timer deadline_;  // for connecting, later for the whole request or for a window
  Timer step_;      // for connecting to one address
  TimePoint end_;
  TimePoint connect_end_;
  std::unique_ptr<Connection> connection_;
  /// Whether a byte of the answer has arrived.
  bool heard_ = false;
  std::uint64_t received_ = 0;
  TimePoint body_began_;
  std::uint64_t received_before_body_ = 0;
  /// The error with which this client aborted the request, if it did.
  ErrorCode aborted_;
};

}  // namespace skua::transport::impl
