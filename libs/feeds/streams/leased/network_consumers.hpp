#pragma once

#include <memory>
#include <vector>

#include "http_server/server.hpp"
#include "postgres/query_database.hpp"
#include "postgres/runtime.hpp"
#include "streams/change_reader.hpp"
#include "streams/leased/pull_server.hpp"
#include "streams/leased/webhook_sender.hpp"

namespace skua::streams {

/// Serves the pull consumers and webhooks that are on each node of a query database. Each node has
/// threads and sessions of its own, so a node that does not answer delays only its own changes. A
/// batch has the changes of one node. The changes of an account that moves to another node keep
/// their order (NodeMoves). Owned by one thread.
class NetworkConsumers {
 public:
  /// `metrics` must outlive the object.
  NetworkConsumers(const std::vector<postgres::Node>& nodes, postgres::Clocks clocks,
                   const WebhookSender::Options& webhooks, FeedMetrics& metrics);

  /// Adds the paths of pull consumers. The object must outlive the HTTP server.
  void add_routes(http_server::Server::Routes& routes) { pull_->add_routes(routes); }

  void start();
  /// Idempotent.
  void stop();

 private:
  std::vector<std::unique_ptr<postgres::Runtime>> runtimes_;
  std::unique_ptr<PullServer> pull_;
  std::vector<std::unique_ptr<WebhookSender>> senders_;
};

}  // namespace skua::streams
