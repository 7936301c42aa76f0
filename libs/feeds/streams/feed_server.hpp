#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "http_server/server.hpp"
#include "streams/change_reader.hpp"
#include "streams/leased/pull_server.hpp"
#include "streams/leased/webhook_sender.hpp"

namespace skua::streams {

/// Brings the change log to other programs (docs/feeds.md): the streams `/changes` and
/// `/subscribe`, the requests of pull consumers, and webhooks. A thread serves the clients, one
/// reads the database for the streams, and one each for pull consumers and webhooks.
class FeedServer {
 public:
  struct Options {
    ChangeReader::Options reader = {};
    http_server::Server::Options server;
    /// Pull consumers and webhooks: the role must be allowed to write the tables of consumers.
    bool serves_leased = true;
    WebhookSender::Options webhooks = {};
    /// Paths besides those of the change log.
    http_server::Server::Routes routes = {};
  };

  /// Listens. `metrics` outlives it. Throws std::runtime_error if the address is malformed or not
  /// available.
  FeedServer(postgres::Runtime& runtime, Options options, FeedMetrics& metrics);
  ~FeedServer() { stop(); }
  FeedServer(const FeedServer&) = delete;
  FeedServer& operator=(const FeedServer&) = delete;

  void start();
  /// Ends all streams with a reason, and the threads. Idempotent.
  void stop();

  std::uint16_t port() const { return server_.port(); }
  std::size_t clients() const { return server_.connections(); }

 private:
  http_server::Server::Routes routes(http_server::Server::Routes routes);

  ChangeReader reader_;
  std::unique_ptr<PullServer> pull_;
  std::unique_ptr<WebhookSender> webhooks_;
  http_server::Server server_;
};

}  // namespace skua::streams
