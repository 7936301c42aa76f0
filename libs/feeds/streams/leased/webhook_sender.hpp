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
#include "postgres/session_thread.hpp"
#include "streams/leased/leased_batch.hpp"
#include "transport/http_client.hpp"

namespace skua::streams {

/// The request that delivers a batch to a webhook: a POST of JSON, signed as Standard Webhooks
/// (www.standardwebhooks.com) says. `webhook-id` is equal for each attempt with the same changes.
transport::HttpRequest webhook_request(const std::string& consumer, const std::string& url,
                                       const std::string& secret, const LeasedBatch& batch,
                                       Timestamp now);

/// The signature of a request, as in `webhook-signature`. `secret`: `whsec_` and base64.
std::string webhook_signature(const std::string& secret, const std::string& id,
                              std::int64_t timestamp, const std::string& body);

/// A new secret of a webhook.
std::string new_webhook_secret();

/// The outcome of a delivery to this URL; nothing: the receiver has processed all changes. Readers
/// of the database see the error: it does not have the path and query of the URL, which may contain
/// a secret, though the receiver may repeat them.
std::optional<consumers::LeaseFailure> webhook_failure(const Result<transport::HttpAnswer>& answer,
                                                       const LeasedBatch& batch,
                                                       const std::string& url);

/// Sends changes to the webhooks of a database, with a request at a time for each lane. One thread
/// with a session leases changes and stores the outcomes; the requests wait in an HttpClient, so a
/// receiver that hangs delays nobody else. Several processes may run one for the same database. A
/// receiver that is not available gets one request at a time until it answers. Owned by one thread.
class WebhookSender {
 public:
  struct Options {
    /// How long a receiver may take for its answer.
    std::chrono::milliseconds request_time{15'000};
    /// The time between two reads while there are no changes.
    std::chrono::milliseconds idle_pause{50};
    /// Waits after a receiver was not available: the first, doubled each time, and the longest.
    std::chrono::milliseconds first_wait{200};
    std::chrono::milliseconds longest_wait{60'000};
    /// See HttpClientOptions.
    std::string ca_file = {};
  };

  /// `metrics` outlives it.
  WebhookSender(postgres::Runtime& runtime, Options options, FeedMetrics& metrics);
  ~WebhookSender() { stop(); }
  WebhookSender(const WebhookSender&) = delete;
  WebhookSender& operator=(const WebhookSender&) = delete;

  void start() { thread_.start(); }
  /// Aborts requests. The next process that serves the webhook sends their changes again.
  /// Idempotent.
  void stop();

 private:
  /// The answer to a request.
  struct Outcome {
    std::int32_t consumer_id = 0;
    consumers::LeaseName lease;
    std::optional<consumers::LeaseFailure> failure;
  };
  /// A webhook as this process serves it.
  struct Served {
    consumers::LeasedConsumer consumer;
    ChangeFilter filter;
    int requests = 0;
    /// Failed requests since its last answer.
    int failures_in_a_row = 0;
    /// After a failure: the time of the next request.
    std::chrono::steady_clock::time_point not_before;
  };

  std::chrono::milliseconds round(postgres::LazySession& lazy, const std::stop_token& stop);
  void read_webhooks(postgres::Session& session);
  void store_outcomes(postgres::Session& session);
  void store_outcome(postgres::Session& session, const Outcome& outcome);
  /// Leases and sends the changes of a webhook. True: call again, there may be more.
  bool send_due(postgres::Session& session, Served& served, const std::stop_token& stop);
  void send(Served& served, LeasedBatch batch);

  postgres::Runtime& runtime_;
  const Options options_;
  FeedMetrics& metrics_;
  std::map<std::int32_t, Served> served_;
  Guarded<std::vector<Outcome>> outcomes_;
  std::chrono::steady_clock::time_point read_again_;
  bool stopped_ = false;
  postgres::SessionThread thread_;
  transport::HttpClient client_;
};

}  // namespace skua::streams
