#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "change_feed/change_reader.hpp"
#include "http_server/server.hpp"

namespace skua::change_feed {

/// Streams the change log to other programs (docs/feeds.md): `/changes` and `/subscribe`. Two
/// threads: one reads the database, one serves the clients.
class FeedServer {
 public:
  struct Options {
    ChangeReader::Options reader;
    http_server::Server::Options server;
  };

  /// Listens. Throws std::runtime_error if the address is malformed or not available.
  explicit FeedServer(Options options);
  ~FeedServer() { stop(); }
  FeedServer(const FeedServer&) = delete;
  FeedServer& operator=(const FeedServer&) = delete;

  void start();
  /// Ends all streams with a reason, and the threads. Idempotent.
  void stop();

  std::uint16_t port() const { return server_.port(); }
  std::size_t clients() const { return server_.connections(); }

 private:
  ChangeReader reader_;
  http_server::Server server_;
};

}  // namespace skua::change_feed
