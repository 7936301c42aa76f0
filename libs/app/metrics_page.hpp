#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/guarded.hpp"
#include "base/metric.hpp"
#include "http_server/server.hpp"
#include "store/session_thread.hpp"

namespace skua::app {

/// The page `/metrics` for Prometheus: the metrics of the process, and those of each consumer in
/// the database, which a thread with a session of its own reads for each request. While the
/// database is down, the page has only the former. Owned by one thread.
class MetricsPage {
 public:
  struct Options {
    std::string database_url;
    /// Called on the page's thread.
    std::function<std::vector<MetricValue>()> process_metrics;
    std::function<void(const std::string& what)> on_defect = nullptr;
  };

  explicit MetricsPage(Options options);

  /// Adds the path to a server, which it outlives.
  void add_route(http_server::Server::Routes& routes);

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

 private:
  using Exchanges = std::vector<std::shared_ptr<http_server::Exchange>>;

  std::chrono::milliseconds round(store::LazySession& lazy);
  std::string text(store::LazySession& lazy) const;

  const Options options_;
  Guarded<Exchanges> waiting_;
  store::SessionThread thread_;
};

}  // namespace skua::app
