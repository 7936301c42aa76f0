#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "http_server/exchange.hpp"
#include "postgres/query_database.hpp"
#include "postgres/runtime.hpp"
#include "streams/change_reader.hpp"
#include "streams/change_stream.hpp"

namespace skua::streams {

/// Merges the change logs of the nodes of a query database for the clients of `/changes`. A reader
/// with a thread and a session of its own reads each log, so that a node that does not answer
/// delays the changes of no other node. The changes of one account keep their order. They are in
/// one log, or in two if the account has moved: then the changes after the move wait until the
/// client has those before it. There is no order between accounts of two nodes. After `start` any
/// thread may call the functions.
class NodeFeed {
 public:
  /// `options` are those of all readers together. Throws std::invalid_argument without nodes.
  NodeFeed(const std::vector<postgres::Node>& nodes, std::vector<postgres::GroupMove> moves,
           postgres::Clocks clocks, const ChangeReader::Options& options);

  void start();
  /// Idempotent.
  void stop();

  /// Answers `GET /changes`. On the server's thread; the feed outlives the exchange.
  void serve_changes(const std::shared_ptr<http_server::Exchange>& exchange);

  /// Returns the metrics that are not those of a log: errors of the server, and batches.
  FeedMetrics& own_metrics() { return own_metrics_; }
  /// Returns the metrics of all nodes: counters are added, and of a gauge the largest value counts.
  FeedMetrics metrics() const;

 private:
  /// The log of a node.
  struct Log {
    std::string node;
    FeedMetrics metrics;
    postgres::Runtime runtime;
    ChangeReader reader;

    Log(const postgres::Node& of, postgres::Clocks clocks, const ChangeReader::Options& options)
        : node(of.name), runtime(of.url, clocks), reader(runtime, options, metrics) {}
  };

  std::variant<std::vector<Start>, FeedError> starts(const std::string& cursor) const;

  const std::vector<postgres::GroupMove> moves_;
  std::vector<std::unique_ptr<Log>> logs_;
  FeedMetrics own_metrics_;
};

}  // namespace skua::streams
