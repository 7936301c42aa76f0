#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "base/guarded.hpp"
#include "http_server/server.hpp"
#include "pages/health.hpp"
#include "pages/history.hpp"
#include "pages/process_status.hpp"
#include "postgres/session_thread.hpp"
#include "status/metrics_text.hpp"
#include "status/network_status.hpp"

namespace skua::pages {

/// The pages of `skua serve` with a query database: `/health/live`, `/health/ready`, `/metrics`,
/// `/status`, `/status/process`, `/history`, and the dashboard at `/`. They show the nodes as the
/// query database finds them, and the streams of the process; all other state belongs to the nodes,
/// which have pages of their own. One thread reads the nodes every few seconds, and the answers are
/// from its last read. Owned by one thread.
class NodePages {
 public:
  /// `metrics` are those of the process. Any thread calls it.
  using ReadMetrics = std::function<std::vector<status::LabelledMetric>()>;

  NodePages(postgres::Runtime& runtime, ReadMetrics metrics);

  /// Adds the paths to a server, which must stop before the pages end.
  void add_routes(http_server::Server::Routes& routes);

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

 private:
  /// The result of the last read. Before the first read there is neither a status nor an error.
  struct Observation {
    std::optional<status::NetworkStatus> network;
    std::string error;
  };

  /// The metrics of the process over time.
  struct Samples {
    History history;
    ProcessStatus process;
  };

  std::chrono::milliseconds round(postgres::LazySession& session);
  /// Returns all metrics, including those of the last read.
  std::vector<status::LabelledMetric> metrics() const;
  Observation observation() const;

  const ReadMetrics metrics_;
  Guarded<Observation> observation_;
  Guarded<Samples> samples_;
  postgres::SessionThread thread_;
};

}  // namespace skua::pages
