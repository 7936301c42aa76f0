#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include <boost/asio/ip/address.hpp>

#include "transport/endpoint.hpp"
#include "transport/impl/asio_types.hpp"
#include "transport/impl/tcp_or_tls_stream.hpp"
#include "transport/impl/tls_client.hpp"

namespace skua::transport::impl {

/// A TCP connection of the HTTP client to one origin (RFC 9110, section 4.3.1), with TLS if the
/// scheme is https. It belongs to a request or, while idle, to the pool, and lives on the client's
/// thread.
struct Connection {
  Connection(const Executor& executor, const Endpoint& url)
      : secure(url.tls), host(url.host), port(url.port), stream(executor) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool leads_to(const Endpoint& url) const {
    return secure == url.tls && port == url.port && host == url.host;
  }

  const bool secure;
  const std::string host;
  const std::uint16_t port;
  boost::asio::ip::address address;
  /// The reason why the certificate was refused. The reason is stored here, because a server may
  /// renegotiate.
  CertificateRefusal refusal;
  TcpOrTlsStream stream;
};

/// The idle connections of a client: a few for each origin, for some seconds. The client owns the
/// pool and uses it on its thread.
///
/// Reuse does not bypass the address guard: each connection knows its address, and a request that
/// may reach only public addresses gets no connection to another address.
class ConnectionPool {
 public:
  /// The limits of kept connections: `of_one_origin`, and `in_all`.
  ConnectionPool(const Executor& executor, std::chrono::milliseconds idle_timeout,
                 std::size_t of_one_origin, std::size_t in_all);

  /// Returns the most recently used connection to the origin, or null if there is none. The
  /// connection was open a moment ago, but may have ended since. `any_address` permits a connection
  /// to an address that is not public.
  std::unique_ptr<Connection> take(const Endpoint& url, bool any_address);

  /// Adds an idle connection. If the limit of its origin or of the pool is reached, the oldest
  /// connection is closed.
  void put(std::unique_ptr<Connection> connection);

  /// Closes all connections. Later connections are not accepted.
  void close();

 private:
  struct Idle {
    std::unique_ptr<Connection> connection;
    std::chrono::steady_clock::time_point until;
  };

  void make_room(const Connection& connection);
  void wait();

  const std::chrono::milliseconds idle_timeout_;
  const std::size_t of_one_origin_;
  const std::size_t in_all_;
  std::list<Idle> idle_;  // the oldest connection is first
  Timer timer_;           // fires when the oldest connection expires
  bool closed_ = false;
};

}  // namespace skua::transport::impl
