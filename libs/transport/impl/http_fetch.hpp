#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>

#include "base/result.hpp"
#include "transport/endpoint.hpp"
#include "transport/http_client.hpp"
#include "transport/impl/address_lookup.hpp"
#include "transport/impl/asio_types.hpp"
#include "transport/impl/inbox.hpp"

namespace skua::transport::impl {

/// What all requests of a client share. Outlives them, except for look-ups, which only have the
/// inbox.
struct HttpContext {
  boost::asio::io_context& io;
  std::shared_ptr<Inbox> inbox;
  boost::asio::ssl::context& tls;
  const HttpClientOptions& options;
};

/// One GET request with its redirects. Lives on the client's thread, owned by the coroutine.
class HttpFetch : public std::enable_shared_from_this<HttpFetch> {
 public:
  HttpFetch(const HttpContext& context, HttpRequest request);

  /// Once.
  Awaitable<Result<HttpAnswer>> run();

  /// Ends it soon, with http_stopped.
  void stop();

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  Awaitable<Result<HttpAnswer>> ask(const Endpoint& url, HostOrigin origin);
  /// The addresses of a host that may be connected to, eight at most.
  Awaitable<Result<std::vector<Tcp::endpoint>>> find_addresses(const Endpoint& url,
                                                               HostOrigin origin);
  Awaitable<ErrorCode> connect(Socket& socket, const std::vector<Tcp::endpoint>& addresses);
  template <class Stream>
  Awaitable<Result<HttpAnswer>> exchange(Stream& stream, const Endpoint& url);

  /// The error that explains the end: ours, when we ended it ourselves.
  ErrorCode reason(ErrorCode otherwise) const;
  void abort(ErrorCode why);
  void set_deadline(TimePoint at, ErrorCode why);

  const HttpContext& context_;
  const HttpRequest request_;
  AddressLookup lookup_;
  Timer deadline_;  // of connecting, later of the whole
  Timer step_;      // of one address
  TimePoint end_;
  TimePoint connect_end_;
  /// The open connection's, to close it from outside.
  Socket* socket_ = nullptr;
  /// Set when we gave up ourselves.
  ErrorCode aborted_;
};

}  // namespace skua::transport::impl
