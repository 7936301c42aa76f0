#include "change_feed/leased/webhook_sender.hpp"

#include <algorithm>
#include <utility>

#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "base/problem.hpp"
#include "base/random.hpp"
#include "change_feed/leased/leased_filter.hpp"
#include "change_feed/leased/webhook_message.hpp"
#include "feed/consumers/failed_work.hpp"
#include "feed/consumers/served_sessions.hpp"
#include "store/process_name.hpp"

namespace skua::change_feed {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kReadWebhooks{1'000};
/// Requests of one webhook at a time.
constexpr int kMostRequests = 16;
/// A lease outlives its request, so that the outcome can be stored.
constexpr milliseconds kAfterRequest{5'000};
/// Requests at a time, and requests that wait: at most the lanes of many webhooks.
constexpr std::size_t kAtOnce = 256;

}  // namespace

WebhookSender::WebhookSender(store::Runtime& runtime, Options options, FeedMetrics& metrics)
    : runtime_(runtime),
      options_(std::move(options)),
      metrics_(metrics),
      thread_(runtime,
              {.session_name = store::process_name(feed::kWebhooksSession),
               .component = "webhook",
               .failure = "webhooks get no changes",
               .retries_sql_errors = true},
              [this](store::LazySession& session, const std::stop_token& stop) {
                return round(session, stop);
              }),
      client_({.ca_file = options_.ca_file,
               .total_timeout = options_.request_time,
               .max_redirects = 0,
               .max_at_once = kAtOnce}) {}

void WebhookSender::stop() {
  if (std::exchange(stopped_, true)) return;
  thread_.request_stop();
  thread_.stop();
  client_.stop();
  if (outcomes_.with([](const std::vector<Outcome>& outcomes) { return outcomes.empty(); })) return;
  try {
    store::Session session(runtime_.database_url, store::process_name("skua stop"));
    store_outcomes(session);
  } catch (const store::SqlError& error) {
    logger("webhook")->warn("leases stay until they expire: {}", error.what());
  }
}

milliseconds WebhookSender::round(store::LazySession& lazy, const std::stop_token& stop) {
  store::Session& session = lazy.get();
  store_outcomes(session);
  bool has_more = false;
  if (SteadyClock::now() >= read_again_) read_webhooks(session);
  for (auto& [id, served] : served_) {
    try {
      has_more = send_due(session, served, stop) || has_more;
    } catch (const store::SqlError& error) {
      if (feed::failed_work(error) == feed::FailedWork::Server) throw;
      // Other webhooks continue.
      served.not_before = SteadyClock::now() + options_.longest_wait;
      feed::note_unreadable(session, id, error);
      logger("webhook")->error("{}: its changes cannot be read: {}", served.consumer.name,
                               with_code(error.what(), problem("consumer-stuck")));
    }
  }
  return has_more ? milliseconds(0) : options_.idle_pause;
}

bool WebhookSender::send_due(store::Session& session, Served& served, const std::stop_token& stop) {
  bool has_more = false;
  while (!stop.stop_requested() && SteadyClock::now() >= served.not_before) {
    const int most = served.failures_in_a_row > 0 ? 1 : kMostRequests;
    if (served.requests >= std::min(most, static_cast<int>(served.consumer.lanes))) break;
    auto changes = lease_changes(session,
                                 {.consumer_id = served.consumer.id,
                                  .owner = random_token(),
                                  .duration = options_.request_time + kAfterRequest},
                                 served.filter);
    has_more = has_more || changes.has_more;
    if (!changes.batch) break;
    crash_point("after_webhook_lease");
    send(served, *std::move(changes.batch));
  }
  return has_more;
}

void WebhookSender::read_webhooks(store::Session& session) {
  read_again_ = SteadyClock::now() + kReadWebhooks;
  std::map<std::int32_t, Served> present;
  for (feed::LeasedConsumer& consumer : feed::read_webhooks(session)) {
    auto filter = parse_leased_filter(consumer.filter);
    if (!filter) {
      logger("webhook")->error("{}: the filter is malformed: {}", consumer.name, filter.error());
      continue;
    }
    const std::int32_t id = consumer.id;
    Served& served = present[id];
    if (const auto known = served_.find(id); known != served_.end()) served = known->second;
    served.consumer = std::move(consumer);
    served.filter = *std::move(filter);
  }
  served_ = std::move(present);
}

void WebhookSender::send(Served& served, LeasedBatch batch) {
  ++served.requests;
  count_batch(metrics_, batch);
  auto request = webhook_request(served.consumer.name, served.consumer.url, served.consumer.secret,
                                 batch, system_clock().now());
  client_.send(
      std::move(request), [this, id = served.consumer.id, url = served.consumer.url,
                           batch = std::move(batch)](const Result<transport::HttpAnswer>& answer) {
        Outcome outcome{id, batch.lease, webhook_failure(answer, batch, url)};
        outcomes_.with([&](std::vector<Outcome>& all) { all.push_back(std::move(outcome)); });
        thread_.notify();
      });
}

void WebhookSender::store_outcomes(store::Session& session) {
  auto outcomes = outcomes_.with([](std::vector<Outcome>& all) { return std::exchange(all, {}); });
  // A failure of the server here leaves leases behind, which expire.
  for (const Outcome& outcome : outcomes) {
    if (const auto served = served_.find(outcome.consumer_id); served != served_.end()) {
      served->second.requests = std::max(0, served->second.requests - 1);
    }
  }
  for (const Outcome& outcome : outcomes) store_outcome(session, outcome);
}

void WebhookSender::store_outcome(store::Session& session, const Outcome& outcome) {
  crash_point("before_webhook_outcome");
  const auto found = served_.find(outcome.consumer_id);
  Served* served = found == served_.end() ? nullptr : &found->second;
  if (!outcome.failure) {
    count_end(metrics_, BatchEnd::Acknowledged, feed::acknowledge(session, outcome.lease, {}));
    if (served != nullptr) {
      served->failures_in_a_row = 0;
      served->not_before = {};
    }
    return;
  }
  feed::LeaseFailure failure = *outcome.failure;
  if (failure.is_temporary && served != nullptr) {
    // Requests that fail at the same time count once.
    if (SteadyClock::now() >= served->not_before) ++served->failures_in_a_row;
    const int doublings = std::clamp(served->failures_in_a_row - 1, 0, 20);
    const milliseconds wait =
        std::min<milliseconds>(options_.first_wait * (1LL << doublings), options_.longest_wait);
    failure.wait = std::clamp(failure.wait.value_or(wait), wait, options_.longest_wait);
    served->not_before = SteadyClock::now() + *failure.wait;
    logger("webhook")->warn("{}: {}; the next request in {} ms", served->consumer.name,
                            failure.error, failure.wait->count());
  } else if (served != nullptr) {
    served->failures_in_a_row = 0;
    logger("webhook")->warn("{}: {}", served->consumer.name, failure.error);
  }
  if (failure.is_temporary && !failure.wait) failure.wait = options_.first_wait;
  count_end(metrics_, failure.is_temporary ? BatchEnd::Unavailable : BatchEnd::Failed,
            feed::report_failure(session, outcome.lease, failure));
}

}  // namespace skua::change_feed
