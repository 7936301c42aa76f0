#pragma once

#include <chrono>
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
#include "http_server/server.hpp"
#include "postgres/session_thread.hpp"
#include "streams/change_event.hpp"
#include "streams/change_filter.hpp"
#include "streams/change_reader.hpp"
#include "streams/leased/leased_batch.hpp"

namespace skua::streams {

enum class PullAction : std::uint8_t { Fetch, Ack, Nack, Renew };

/// The reason of a failure or rejection, if the client gives none.
inline constexpr const char* kRefused = "refused by the consumer";

/// The body of a request of `/pull/...` (docs/feeds.md). The client controls all values.
struct PullRequest {
  PullAction action = PullAction::Fetch;
  std::string consumer;
  /// The lease of an ack, nack or renew, without the consumer.
  consumers::LeaseName lease;
  /// Nothing for the time of the tuning profile.
  std::optional<std::chrono::seconds> lease_time;

  // The following members belong to a fetch.
  std::int32_t max = 100;
  std::chrono::seconds wait{0};

  /// In an ack, the last processed change; without a value the ack covers the whole lease. In a
  /// nack, the change that failed; without a value the failed change is unknown.
  std::optional<Position> position;

  /// A change that an ack excludes, with the reason.
  struct Rejected {
    Position position;
    std::string error;
  };
  std::vector<Rejected> rejected = {};

  // The following members belong to a nack.
  std::string error = kRefused;
  std::optional<std::chrono::seconds> retry;
  bool is_final = false;
};

/// Parses the body of a request. Returns a message for the client if the body is invalid.
Checked<PullRequest> parse_pull_request(PullAction action, const std::string& body);

/// Returns the SHA-256 of the token of a pull consumer in hexadecimal digits, as in
/// skua.consumer_secrets.
std::string token_hash(std::string_view token);

/// Returns the opaque text by which a client names a lease.
std::string lease_text(const consumers::LeaseName& lease);

/// Answers the requests of pull consumers: `/pull/fetch`, `/pull/ack`, `/pull/nack` and
/// `/pull/renew` (docs/feeds.md), on its own thread and session. The number of waiting requests is
/// limited by the server's connections. Owned by one thread.
class PullServer {
 public:
  /// `metrics` must outlive the server. A fetch that has found no change of its consumer after
  /// `longest_search` is answered, although the log has more to read.
  PullServer(postgres::Runtime& runtime, std::chrono::milliseconds longest_search,
             FeedMetrics& metrics);

  /// Adds the paths to an HTTP server. The PullServer must outlive the HTTP server.
  void add_routes(http_server::Server::Routes& routes);

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

 private:
  struct Waiting {
    PullRequest request;
    std::shared_ptr<http_server::Exchange> exchange;
    std::chrono::steady_clock::time_point until;
    /// The end of a search through changes that do not pass the filter.
    std::chrono::steady_clock::time_point search_end;
    /// The time of the next search for changes.
    std::chrono::steady_clock::time_point next_search = {};
    /// The number of lanes that this search has read to the end of the log.
    std::int32_t lanes_at_end = 0;
  };

  void accept(PullAction action, const std::shared_ptr<http_server::Exchange>& exchange);
  std::chrono::milliseconds round(postgres::LazySession& lazy, const std::stop_token& stop);
  /// Answers the requests that wait. Returns the time of the next search for changes.
  std::chrono::steady_clock::time_point answer_all(postgres::Session& session);
  /// Checks the filters of all pull consumers at intervals, so that a malformed filter is known
  /// before a program fetches.
  void check_filters(postgres::Session& session);
  /// Answers a request. Returns false if the request still waits for changes. An SQL error that
  /// concerns only the request's consumer becomes the answer.
  bool try_answer(postgres::Session& session, Waiting& waiting);
  bool answer(postgres::Session& session, Waiting& waiting);
  bool fetch(postgres::Session& session, Waiting& waiting,
             const consumers::LeasedConsumer& consumer);
  void end_lease(postgres::Session& session, Waiting& waiting,
                 const consumers::LeasedConsumer& consumer);
  consumers::LeaseResult report(postgres::Session& session, const PullRequest& request,
                                const consumers::LeaseName& lease,
                                std::chrono::milliseconds duration);

  FeedMetrics& metrics_;
  const std::chrono::milliseconds longest_search_;
  Guarded<std::vector<Waiting>> arrived_;
  /// The requests that wait for changes. Used only by the server's own thread.
  std::list<Waiting> waiting_;
  std::chrono::steady_clock::time_point next_check_ = {};
  LostConnections lost_connections_;
  postgres::SessionThread thread_;
};

}  // namespace skua::streams
