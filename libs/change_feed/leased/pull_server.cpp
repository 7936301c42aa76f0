#include "change_feed/leased/pull_server.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "base/problem.hpp"
#include "base/random.hpp"
#include "change_feed/leased/leased_batch.hpp"
#include "change_feed/leased/leased_filter.hpp"
#include "change_feed/log_pages.hpp"
#include "feed/consumers/failed_work.hpp"
#include "store/process_name.hpp"

namespace skua::change_feed {
namespace {

using http_server::Exchange;
using http_server::Response;
using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

Response refusal(unsigned status, std::string_view error, std::string_view message) {
  return http_server::error_response(status, error, message);
}

/// Whether an Authorization header has the token of a consumer.
bool has_token(const std::string& authorization, const feed::LeasedConsumer& consumer) {
  const auto token = http_server::bearer_token(authorization);
  return token && token_hash(*token) == consumer.secret;
}

Response response_of(feed::LeaseResult result) {
  switch (result) {
    case feed::LeaseResult::Lost:
      return refusal(409, "LeaseLost", "the lease has ended: the changes are delivered again");
    case feed::LeaseResult::NotOfLease:
      return refusal(400, "InvalidRequest", "the position is not one of the batch");
    case feed::LeaseResult::Held:
      return {.body = R"({"leased":true})"};
    case feed::LeaseResult::Ended:
      break;
  }
  return {.body = R"({"leased":false})"};
}

}  // namespace

PullServer::PullServer(store::Runtime& runtime, Options options, FeedMetrics& metrics)
    : options_(options),
      metrics_(metrics),
      thread_(runtime,
              {.session_name = store::process_name("skua pull"),
               .component = "pull",
               .failure = "pull consumers get no changes",
               .retries_sql_errors = true},
              [this](store::LazySession& session, const std::stop_token& stop) {
                return round(session, stop);
              }) {}

void PullServer::add_routes(http_server::Server::Routes& routes) {
  const std::pair<const char*, PullAction> paths[] = {{"/pull/fetch", PullAction::Fetch},
                                                      {"/pull/ack", PullAction::Ack},
                                                      {"/pull/nack", PullAction::Nack},
                                                      {"/pull/renew", PullAction::Renew}};
  for (const auto& [path, served] : paths) {
    routes[path] = {http_server::Method::Post,
                    [this, action = served](const std::shared_ptr<Exchange>& exchange) {
                      accept(action, exchange);
                    }};
  }
}

void PullServer::accept(PullAction action, const std::shared_ptr<Exchange>& exchange) {
  auto request = parse_pull_request(action, exchange->request().body);
  if (!request) return exchange->answer(refusal(400, "InvalidRequest", request.error()));
  const auto until = SteadyClock::now() + request->wait;
  arrived_.with([&](std::vector<Waiting>& arrived) {
    arrived.push_back({*std::move(request), exchange, until});
  });
  thread_.notify();
}

milliseconds PullServer::round(store::LazySession& lazy, const std::stop_token& /*stop*/) {
  auto arrived = arrived_.with([](std::vector<Waiting>& all) { return std::exchange(all, {}); });
  for (Waiting& waiting : arrived) waiting_.push_back(std::move(waiting));
  if (waiting_.empty()) return milliseconds(1'000);
  try {
    store::Session& session = lazy.get();
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      at = try_answer(session, *at) ? waiting_.erase(at) : std::next(at);
    }
  } catch (const store::SqlError&) {
    for (const Waiting& waiting : waiting_) {
      waiting.exchange->answer(
          refusal(503, "DatabaseUnavailable", "the database does not answer: try again later"));
    }
    waiting_.clear();
    throw;
  }
  return waiting_.empty() ? milliseconds(1'000) : options_.idle_pause;
}

bool PullServer::try_answer(store::Session& session, Waiting& waiting) {
  try {
    return answer(session, waiting);
  } catch (const store::SqlError& error) {
    if (feed::failed_work(error) == feed::FailedWork::Server) throw;
    const std::string& name = waiting.request.consumer;
    logger("pull")->error("{}: the request failed: {}", name,
                          with_code(error.what(), problem("consumer-stuck")));
    if (const auto consumer = feed::find_leased_consumer(session, name)) {
      feed::note_unreadable(session, consumer->id, error);
    }
    waiting.exchange->answer(refusal(500, "InternalError", "the changes cannot be read"));
    return true;
  }
}

bool PullServer::answer(store::Session& session, Waiting& waiting) {
  const auto consumer = feed::find_leased_consumer(session, waiting.request.consumer);
  const auto& authorization = waiting.exchange->request().authorization;
  if (!consumer || consumer->is_webhook || !has_token(authorization, *consumer)) {
    waiting.exchange->answer(
        refusal(401, "Unauthorized", "there is no pull consumer with this name and token"));
    return true;
  }
  if (waiting.request.action == PullAction::Fetch) return fetch(session, waiting, *consumer);
  end_lease(session, waiting, *consumer);
  return true;
}

bool PullServer::fetch(store::Session& session, Waiting& waiting,
                       const feed::LeasedConsumer& consumer) {
  if (consumer.state != "running") {
    const bool is_stopped = consumer.state == "stopped";
    waiting.exchange->answer(refusal(
        is_stopped ? 409 : 410, is_stopped ? "ConsumerStopped" : "CursorTooOld", consumer.error));
    return true;
  }
  const auto filter = parse_leased_filter(consumer.filter);
  if (!filter) {
    waiting.exchange->answer(refusal(500, "InvalidFilter", filter.error()));
    return true;
  }
  const auto changes = lease_changes(session,
                                     {.consumer_id = consumer.id,
                                      .owner = random_token(),
                                      .duration = waiting.request.lease_time,
                                      .most = waiting.request.max,
                                      .ignores_pause = true},
                                     *filter);
  const auto& batch = changes.batch;
  if (!batch && (changes.has_more || SteadyClock::now() < waiting.until)) return false;
  if (batch) count_batch(metrics_, *batch);
  waiting.exchange->answer(
      Response{.body = batch ? fmt::format(R"({{"batch":"{}","changes":{}}})",
                                           lease_text(batch->lease), changes_json(*batch))
                             : R"({"changes":[]})"});
  return true;
}

void PullServer::end_lease(store::Session& session, Waiting& waiting,
                           const feed::LeasedConsumer& consumer) {
  const PullRequest& request = waiting.request;
  feed::LeaseName lease = request.lease;
  lease.consumer_id = consumer.id;
  std::optional<std::int64_t> pos;
  if (request.position) {
    if (request.position->timeline != read_log_state(session).timeline) {
      count_end(metrics_, BatchEnd::LeaseLost, feed::LeaseResult::Lost);
      return waiting.exchange->answer(response_of(feed::LeaseResult::Lost));
    }
    pos = request.position->pos;
  }
  auto result = feed::LeaseResult::Lost;
  if (request.action == PullAction::Ack) {
    result = feed::acknowledge(session, lease, {.through = pos, .duration = request.lease_time});
    count_end(metrics_, BatchEnd::Acknowledged, result);
  } else if (request.action == PullAction::Renew) {
    result = feed::renew_lease(session, lease, request.lease_time);
  } else {
    result = feed::report_failure(
        session, lease,
        {.pos = pos, .error = request.error, .wait = request.retry, .is_final = request.is_final});
    count_end(metrics_, BatchEnd::Failed, result);
  }
  waiting.exchange->answer(response_of(result));
}

}  // namespace skua::change_feed
