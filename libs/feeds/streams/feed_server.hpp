#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "http_server/server.hpp"
#include "streams/change_reader.hpp"
#include "streams/leased/pull_server.hpp"
#include "streams/leased/webhook_sender.hpp"

namespace skua::streams {

/// Gives other programs the change log (docs/feeds.md): with the streams `/changes` and
/// `/subscribe`, with answers to pull consumers, and with webhooks. One thread serves the clients,
/// one reads the database for the streams, one works for pull consumers, and one for webhooks.
class FeedServer {
 public:
  struct Options {
    ChangeReader::Options reader = {};
    http_server::Server::Options server;
    /// True if the server serves pull consumers and webhooks. The role must be allowed to write the
    /// tables of consumers.
    bool serves_leased = true;
    WebhookSender::Options webhooks = {};
    /// See PullServer.
    std::chrono::milliseconds longest_search = kLongestSearch;
    /// Further paths besides those of the change log.
    http_server::Server::Routes routes = {};
  };

  /// Listens at the address. `metrics` must outlive the server. Throws std::runtime_error if the
  /// address is malformed or not available.
  FeedServer(postgres::Runtime& runtime, Options options, FeedMetrics& metrics);
  ~FeedServer() { stop(); }
  FeedServer(const FeedServer&) = delete;
  FeedServer& operator=(const FeedServer&) = delete;

  void start();
  /// Ends all streams with a reason, and joins the threads. Idempotent.
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
