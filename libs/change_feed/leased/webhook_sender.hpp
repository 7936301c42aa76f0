#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/guarded.hpp"
#include "base/time.hpp"
#include "change_feed/leased/leased_batch.hpp"
#include "feed/leases/leased_consumers.hpp"
#include "store/session_thread.hpp"
#include "transport/http_client.hpp"

namespace skua::change_feed {

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
  WebhookSender(store::Runtime& runtime, Options options, FeedMetrics& metrics);
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
    feed::LeaseName lease;
    std::optional<feed::LeaseFailure> failure;
  };
  /// A webhook as this process serves it.
  struct Served {
    feed::LeasedConsumer consumer;
    ChangeFilter filter;
    int requests = 0;
    /// Failed requests since its last answer.
    int failures_in_a_row = 0;
    /// After a failure: the time of the next request.
    std::chrono::steady_clock::time_point not_before;
  };

  std::chrono::milliseconds round(store::LazySession& lazy, const std::stop_token& stop);
  void read_webhooks(store::Session& session);
  void store_outcomes(store::Session& session);
  void store_outcome(store::Session& session, const Outcome& outcome);
  /// Leases and sends the changes of a webhook. True: call again, there may be more.
  bool send_due(store::Session& session, Served& served, const std::stop_token& stop);
  void send(Served& served, LeasedBatch batch);

  store::Runtime& runtime_;
  const Options options_;
  FeedMetrics& metrics_;
  std::map<std::int32_t, Served> served_;
  Guarded<std::vector<Outcome>> outcomes_;
  std::chrono::steady_clock::time_point read_again_;
  bool stopped_ = false;
  store::SessionThread thread_;
  transport::HttpClient client_;
};

}  // namespace skua::change_feed
