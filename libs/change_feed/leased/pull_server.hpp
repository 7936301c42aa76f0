#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/guarded.hpp"
#include "change_feed/feed_metrics.hpp"
#include "change_feed/leased/pull_request.hpp"
#include "feed/leases/leased_consumers.hpp"
#include "http_server/exchange.hpp"
#include "http_server/server.hpp"
#include "store/session_thread.hpp"

namespace skua::change_feed {

/// Answers the requests of pull consumers: `/pull/fetch`, `/pull/ack`, `/pull/nack` and
/// `/pull/renew` (docs/feeds.md), on a thread and a session of its own. The number of requests is
/// that of the server's connections. Owned by one thread.
class PullServer {
 public:
  struct Options {
    /// Between looks for changes while requests wait for them.
    std::chrono::milliseconds idle_pause{50};
  };

  /// `metrics` outlives it.
  PullServer(store::Runtime& runtime, Options options, FeedMetrics& metrics);

  /// Adds the paths to a server, which it outlives.
  void add_routes(http_server::Server::Routes& routes);

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

 private:
  struct Waiting {
    PullRequest request;
    std::shared_ptr<http_server::Exchange> exchange;
    std::chrono::steady_clock::time_point until;
  };

  void accept(PullAction action, const std::shared_ptr<http_server::Exchange>& exchange);
  std::chrono::milliseconds round(store::LazySession& lazy, const std::stop_token& stop);
  /// Answers a request. False: it waits for changes. An SQL error that concerns its consumer only
  /// is its answer.
  bool try_answer(store::Session& session, Waiting& waiting);
  bool answer(store::Session& session, Waiting& waiting);
  bool fetch(store::Session& session, Waiting& waiting, const feed::LeasedConsumer& consumer);
  void end_lease(store::Session& session, Waiting& waiting, const feed::LeasedConsumer& consumer);

  const Options options_;
  FeedMetrics& metrics_;
  Guarded<std::vector<Waiting>> arrived_;
  /// Requests that wait for changes. Of the thread.
  std::list<Waiting> waiting_;
  store::SessionThread thread_;
};

}  // namespace skua::change_feed
