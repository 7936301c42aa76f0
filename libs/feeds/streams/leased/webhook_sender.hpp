#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/guarded.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "consumers/leases/lease.hpp"
#include "consumers/leases/leased_consumers.hpp"
#include "consumers/tuning.hpp"
#include "postgres/session_thread.hpp"
#include "streams/leased/leased_batch.hpp"
#include "streams/leased/node_moves.hpp"
#include "transport/http_client.hpp"

namespace skua::streams {

/// Returns the request that delivers a batch to a webhook: a POST of JSON with a signature of
/// Standard Webhooks (www.standardwebhooks.com). `webhook-id` is equal for all attempts with the
/// same changes. The headers also have the number of the attempt, and the deadline of the answer.
transport::HttpRequest webhook_request(const std::string& consumer, const std::string& url,
                                       const std::string& secret, const LeasedBatch& batch,
                                       Timestamp now);

/// Returns the signature of a request for the header `webhook-signature`. `secret` is `whsec_`
/// followed by base64.
std::string webhook_signature(const std::string& secret, const std::string& id,
                              std::int64_t timestamp, const std::string& body);

/// Returns a new random secret for a webhook.
std::string new_webhook_secret();

/// What a receiver did with the changes of a request.
struct WebhookOutcome {
  /// Changes that the receiver did not process and does not want again. They precede the failure.
  std::vector<consumers::Rejection> rejected = {};
  /// Nothing if the receiver has processed all other changes.
  std::optional<consumers::LeaseFailure> failure = std::nullopt;
};

/// Returns the outcome of a delivery to this URL. Readers of the database see the errors, so they
/// never contain the path and query of the URL, which may contain a secret, even if the receiver
/// repeats them.
WebhookOutcome webhook_outcome(const Result<transport::HttpAnswer>& answer,
                               const LeasedBatch& batch, const std::string& url);

/// Sends changes to the webhooks of a database, with one simultaneous request for each lane, and at
/// most `processors` of the tuning. One thread with a session leases changes and stores the
/// outcomes. The requests wait in an HttpClient, so a receiver that does not answer delays no other
/// receiver. Several processes may run a sender for the same database. A receiver that is not
/// available gets one request at a time until it answers. Owned by one thread.
class WebhookSender {
 public:
  struct Options {
    /// A receiver must answer within this time.
    std::chrono::milliseconds request_time{15'000};
    /// The sender waits after a receiver was not available: first for `first_wait`, then for twice
    /// as long each time, up to `longest_wait`.
    std::chrono::milliseconds first_wait{200};
    std::chrono::milliseconds longest_wait{60'000};
    /// See HttpClientOptions.
    std::string ca_file = {};
  };

  /// `metrics` must outlive the sender. `node` is the database, if it is one of several nodes.
  WebhookSender(postgres::Runtime& runtime, Options options, FeedMetrics& metrics,
                ServedNode node = {});
  ~WebhookSender() { stop(); }
  WebhookSender(const WebhookSender&) = delete;
  WebhookSender& operator=(const WebhookSender&) = delete;

  void start() { thread_.start(); }
  /// Aborts requests. The next process that serves the webhook sends their changes again.
  /// Idempotent.
  void stop();

 private:
  /// The outcome of a request for a lease.
  struct Outcome {
    std::int32_t consumer_id = 0;
    consumers::LeaseName lease;
    WebhookOutcome delivery;
  };
  /// A webhook and the state of its requests in this process.
  struct Served {
    consumers::LeasedConsumer consumer;
    ChangeFilter filter;
    consumers::Tuning tuning;
    int requests = 0;
    /// The number of failed requests since the last answer.
    int failures_in_a_row = 0;
    /// The time of the next request after a failure.
    std::chrono::steady_clock::time_point not_before;
  };

  std::chrono::milliseconds round(postgres::LazySession& lazy, const std::stop_token& stop);
  std::chrono::milliseconds serve(postgres::Session& session, const std::stop_token& stop);
  void read_webhooks(postgres::Session& session);
  void store_outcomes(postgres::Session& session);
  void store_outcome(postgres::Session& session, const Outcome& outcome);
  /// Counts down the open requests of the webhook.
  void count_end_of_request(const Outcome& outcome);
  void store_failure(postgres::Session& session, const Outcome& outcome, Served* served);
  /// Leases and sends the changes of a webhook. Returns true if there may be more changes, so that
  /// the caller should call again.
  bool send_due(postgres::Session& session, Served& served, const std::stop_token& stop);
  void send(Served& served, LeasedBatch batch);

  postgres::Runtime& runtime_;
  const Options options_;
  const ServedNode node_;
  FeedMetrics& metrics_;
  std::map<std::int32_t, Served> served_;
  Guarded<std::vector<Outcome>> outcomes_;
  std::chrono::steady_clock::time_point read_again_;
  LostConnections lost_connections_;
  bool stopped_ = false;
  postgres::SessionThread thread_;
  transport::HttpClient client_;
};

}  // namespace skua::streams
