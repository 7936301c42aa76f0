#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "http_server/server.hpp"
#include "streams/leased/pull_log.hpp"

namespace skua::streams {

/// The usual time of PullServer for a search. The rest of the server's limit for an answer is for
/// the last part of the search.
inline constexpr std::chrono::milliseconds kLongestSearch{22'000};

/// Answers the requests of pull consumers: `/pull/fetch`, `/pull/ack`, `/pull/nack` and
/// `/pull/renew` (docs/feeds.md), from the change log of one database or of all nodes of a query
/// database. A fetch gets the changes of one node. It asks the nodes in turn, each fetch beginning
/// with the next one, and a node that does not answer delays no other. The number of waiting
/// requests is limited by the server's connections. Owned by one thread.
class PullServer {
 public:
  struct Log {
    postgres::Runtime& runtime;
    ServedNode node = {};
  };

  /// `metrics` must outlive the server. A fetch that has found no change of its consumer after
  /// `longest_search` is answered, although the log has more to read.
  PullServer(const std::vector<Log>& logs, std::chrono::milliseconds longest_search,
             FeedMetrics& metrics);

  /// Adds the paths to an HTTP server. The PullServer must outlive the HTTP server.
  void add_routes(http_server::Server::Routes& routes);

  void start();
  /// Idempotent.
  void stop();

 private:
  void accept(PullAction action, const std::shared_ptr<http_server::Exchange>& exchange);
  /// Gives a fetch to the log with this index, or to the next one that can be used. It has the
  /// answer if each log was asked.
  void ask(std::size_t log, PullWaiting waiting, std::chrono::milliseconds idle);

  const std::chrono::milliseconds longest_search_;
  std::vector<std::unique_ptr<PullLog>> logs_;
  /// The log with which the next fetch begins.
  std::atomic<std::size_t> next_ = 0;
};

}  // namespace skua::streams
