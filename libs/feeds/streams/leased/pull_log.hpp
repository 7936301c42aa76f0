#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/guarded.hpp"
#include "consumers/leases/lease.hpp"
#include "consumers/leases/leased_consumers.hpp"
#include "http_server/exchange.hpp"
#include "postgres/runtime.hpp"
#include "postgres/session_thread.hpp"
#include "streams/change_reader.hpp"
#include "streams/leased/leased_batch.hpp"
#include "streams/leased/node_moves.hpp"
#include "streams/leased/pull_request.hpp"

namespace skua::streams {

/// An answer that refuses a request.
struct PullRefusal {
  unsigned status = 0;
  std::string error;
  std::string message;
};

/// A request of a pull consumer that has no answer yet.
struct PullWaiting {
  PullRequest request;
  std::shared_ptr<http_server::Exchange> exchange;
  std::chrono::steady_clock::time_point until;
  /// The end of a search through changes that do not pass the filter.
  std::chrono::steady_clock::time_point search_end;
  /// The time of the next search for changes.
  std::chrono::steady_clock::time_point next_search = {};
  /// The number of lanes that this search has read to the end of the log.
  std::int32_t lanes_at_end = 0;

  // The following members describe the logs that have had no changes for a fetch, one after
  // another.
  std::size_t searched = 0;
  /// The number of those that refused it.
  std::size_t refused = 0;
  std::optional<PullRefusal> refusal = std::nullopt;

  void refuse(const PullRefusal& with) const;
  /// Notes that a log refuses the fetch. The answer has the first refusal, if no log has changes.
  void note(PullRefusal with);
};

/// Answers the requests of pull consumers from the change log of one database, on its own thread
/// and session. Owned by one thread.
class PullLog {
 public:
  /// Takes a fetch for which this log has no changes. `idle` is the time until the next search.
  using PassOn = std::function<void(PullWaiting waiting, std::chrono::milliseconds idle)>;

  /// `metrics` must outlive the log.
  PullLog(postgres::Runtime& runtime, ServedNode node, FeedMetrics& metrics, PassOn pass_on);

  /// Takes a request. Any thread.
  void take(PullWaiting waiting);
  /// Whether the last round could not use the database. Any thread.
  bool is_down() const { return is_down_; }
  const std::string& node() const { return node_.name; }
  /// The refusal while the database cannot be used.
  PullRefusal unavailable() const;

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

 private:
  std::chrono::milliseconds round(postgres::LazySession& lazy, const std::stop_token& stop);
  /// Answers the requests that wait. Returns the time of the next search for changes.
  std::chrono::steady_clock::time_point answer_all(postgres::Session& session);
  /// Reads at intervals what the fetches need. A malformed filter is then known before a program
  /// fetches.
  void read_consumers(postgres::Session& session);
  /// Answers a request or passes it on. Returns false if the request still waits for changes of
  /// this log. An SQL error that concerns only the request's consumer becomes the answer.
  bool try_answer(postgres::Session& session, PullWaiting& waiting);
  bool answer(postgres::Session& session, PullWaiting& waiting);
  bool fetch(postgres::Session& session, PullWaiting& waiting,
             const consumers::LeasedConsumer& consumer);
  /// Refuses a request. A fetch may have changes of another log.
  bool refuse(PullWaiting& waiting, PullRefusal with);
  void end_lease(postgres::Session& session, PullWaiting& waiting,
                 const consumers::LeasedConsumer& consumer);
  consumers::LeaseResult report(postgres::Session& session, const PullRequest& request,
                                const consumers::LeaseName& lease,
                                std::chrono::milliseconds duration);
  /// Returns the answer to a fetch.
  std::string batch_json(const LeasedBatch& batch) const;

  const ServedNode node_;
  FeedMetrics& metrics_;
  const PassOn pass_on_;
  Guarded<std::vector<PullWaiting>> arrived_;
  /// The requests that wait for changes. Used only by the log's own thread.
  std::list<PullWaiting> waiting_;
  std::chrono::steady_clock::time_point next_read_ = {};
  LostConnections lost_connections_;
  std::atomic<bool> is_down_ = false;
  postgres::SessionThread thread_;
};

}  // namespace skua::streams
