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

namespace skua::streams {

enum class PullAction : std::uint8_t { Fetch, Ack, Nack, Renew };

/// The body of a request of `/pull/...` (docs/feeds.md). Everything in it comes from the client.
struct PullRequest {
  PullAction action = PullAction::Fetch;
  std::string consumer;
  /// Of ack, nack and renew, without the consumer.
  consumers::LeaseName lease;
  std::chrono::seconds lease_time{60};

  // Of fetch.
  std::int32_t max = 100;
  std::chrono::seconds wait{0};

  /// Of ack: the last processed change. Of nack: the change that failed. Nothing: see there.
  std::optional<Position> position;

  // Of nack.
  std::string error = "refused by the consumer";
  std::optional<std::chrono::seconds> retry;
  bool is_final = false;
};

/// A request, or a message for the client.
Checked<PullRequest> parse_pull_request(PullAction action, const std::string& body);

/// The SHA-256 of the token of a pull consumer, in hexadecimal digits (skua.consumer_secrets).
std::string token_hash(std::string_view token);

/// A lease as the client sees it: an opaque text.
std::string lease_text(const consumers::LeaseName& lease);

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
  PullServer(postgres::Runtime& runtime, Options options, FeedMetrics& metrics);

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
  std::chrono::milliseconds round(postgres::LazySession& lazy, const std::stop_token& stop);
  /// Answers a request. False: it waits for changes. An SQL error that concerns its consumer only
  /// is its answer.
  bool try_answer(postgres::Session& session, Waiting& waiting);
  bool answer(postgres::Session& session, Waiting& waiting);
  bool fetch(postgres::Session& session, Waiting& waiting,
             const consumers::LeasedConsumer& consumer);
  void end_lease(postgres::Session& session, Waiting& waiting,
                 const consumers::LeasedConsumer& consumer);

  const Options options_;
  FeedMetrics& metrics_;
  Guarded<std::vector<Waiting>> arrived_;
  /// Requests that wait for changes. Of the thread.
  std::list<Waiting> waiting_;
  postgres::SessionThread thread_;
};

}  // namespace skua::streams
