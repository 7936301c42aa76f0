#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>

#include "transport/endpoint.hpp"
#include "transport/impl/asio_types.hpp"
#include "transport/impl/connection.hpp"

namespace skua::transport::impl {

/// The idle connections of a client: a few for each origin, for some seconds. Part of the client,
/// on its thread.
///
/// Reuse does not bypass the address guard: each connection knows its address, and a request that
/// may reach only public addresses gets no connection to another address.
class ConnectionPool {
 public:
  /// The limits of kept connections: `of_one_origin`, and `in_all`.
  ConnectionPool(const Executor& executor, std::chrono::milliseconds idle_timeout,
                 std::size_t of_one_origin, std::size_t in_all);

  /// The most recently used connection to that origin; null if there is none. It was open a moment
  /// ago, but may have ended since. `any_address`: also a connection to an address that is not
  /// public.
  std::unique_ptr<Connection> take(const Endpoint& url, bool any_address);

  /// Adds an idle connection. If the limit of its origin or of the pool is reached, the oldest is
  /// closed.
  void put(std::unique_ptr<Connection> connection);

  /// Closes all connections, and accepts none afterwards.
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
  std::list<Idle> idle_;  // the oldest first
  Timer timer_;           // for the oldest
  bool closed_ = false;
};

}  // namespace skua::transport::impl
