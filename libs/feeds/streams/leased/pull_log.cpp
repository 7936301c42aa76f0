#include "streams/leased/pull_log.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/problem.hpp"
#include "base/time.hpp"
#include "consumers/fold_step.hpp"
#include "http_server/server.hpp"
#include "postgres/connection_string.hpp"
#include "streams/leased/letter_event.hpp"
#include "streams/node_positions.hpp"

namespace skua::streams {

namespace {

using http_server::Response;
using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// The time between two reads of all consumers, as often as webhooks are read.
constexpr milliseconds kReadConsumers{1'000};

/// The time after which a fetch asks a log again that refused it, if other logs may have changes.
constexpr milliseconds kRefusedPause{1'000};

/// Returns the duration of the lease that a request asks for.
milliseconds lease_time(const PullRequest& request, const consumers::Tuning& tuning) {
  return request.lease_time ? milliseconds(*request.lease_time) : tuning.lease;
}

Response response_of(const PullRefusal& refusal) {
  return http_server::error_response(refusal.status, refusal.error, refusal.message);
}

/// Returns whether an Authorization header contains the token of a consumer.
bool has_token(const std::string& authorization, const consumers::LeasedConsumer& consumer) {
  const auto token = http_server::bearer_token(authorization);
  return token && token_hash(*token) == consumer.secret;
}

Response response_of(consumers::LeaseResult result) {
  switch (result) {
    case consumers::LeaseResult::Lost:
      return response_of(
          PullRefusal{409, "LeaseLost", "the lease has ended: the changes are delivered again"});
    case consumers::LeaseResult::NotOfLease:
      return response_of(
          PullRefusal{400, "InvalidRequest", "the position is not one of the batch"});
    case consumers::LeaseResult::Held:
      return {.body = R"({"leased":true})"};
    case consumers::LeaseResult::Ended:
      break;
  }
  return {.body = R"({"leased":false})"};
}

}  // namespace

void PullWaiting::refuse(const PullRefusal& with) const {
  exchange->answer(response_of(with));
}

void PullWaiting::note(PullRefusal with) {
  ++refused;
  // A log that lacks the consumer says less than any other refusal.
  if (!refusal || refusal->status == 401) refusal = std::move(with);
}

PullLog::PullLog(postgres::Runtime& runtime, ServedNode node, FeedMetrics& metrics, PassOn pass_on)
    : node_(std::move(node)),
      metrics_(metrics),
      pass_on_(std::move(pass_on)),
      thread_(runtime,
              {.session_name = postgres::process_name("skua pull"),
               .component = "pull",
               .failure = "pull consumers get no changes",
               .retries_sql_errors = true},
              [this](postgres::LazySession& session, const std::stop_token& stop) {
                return round(session, stop);
              }) {}

void PullLog::take(PullWaiting waiting) {
  arrived_.with([&](std::vector<PullWaiting>& arrived) { arrived.push_back(std::move(waiting)); });
  thread_.notify();
}

PullRefusal PullLog::unavailable() const {
  const std::string what = node_.name.empty() ? "the database" : "the node " + node_.name;
  return {503, "DatabaseUnavailable", what + " does not answer: try again later"};
}

milliseconds PullLog::round(postgres::LazySession& lazy, const std::stop_token& /*stop*/) {
  auto arrived =
      arrived_.with([](std::vector<PullWaiting>& all) { return std::exchange(all, {}); });
  for (PullWaiting& waiting : arrived) waiting_.push_back(std::move(waiting));
  try {
    postgres::Session& session = lazy.get();
    read_consumers(session);
    is_down_ = false;
    const auto next = std::min(answer_all(session), next_read_);
    const auto pause = std::chrono::ceil<milliseconds>(next - SteadyClock::now());
    return std::max(pause, milliseconds(0));
  } catch (const postgres::SqlError&) {
    lost_connections_.note();
    is_down_ = true;
    for (PullWaiting& waiting : waiting_) refuse(waiting, unavailable());
    waiting_.clear();
    throw;
  }
}

SteadyClock::time_point PullLog::answer_all(postgres::Session& session) {
  auto next_search = SteadyClock::time_point::max();
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    if (SteadyClock::now() >= at->next_search && try_answer(session, *at)) {
      at = waiting_.erase(at);
    } else {
      next_search = std::min(next_search, at->next_search);
      ++at;
    }
  }
  return next_search;
}

void PullLog::read_consumers(postgres::Session& session) {
  if (SteadyClock::now() < next_read_) return;
  node_.update(session);
  for (const auto& consumer : consumers::read_pull_consumers(session)) {
    static_cast<void>(read_filter(session, consumer));
  }
  next_read_ = SteadyClock::now() + kReadConsumers;
}

bool PullLog::try_answer(postgres::Session& session, PullWaiting& waiting) {
  try {
    return answer(session, waiting);
  } catch (const postgres::SqlError& error) {
    if (consumers::failed_work(error) == consumers::FailedWork::Server) throw;
    const std::string& name = waiting.request.consumer;
    logger("pull")->error("{}: the request failed: {}", name,
                          with_code(error.what(), problem("consumer-stuck")));
    if (const auto consumer = consumers::find_leased_consumer(session, name)) {
      consumers::note_unreadable(session, consumer->id, consumers::FailureCause::Tables,
                                 error.what(), {});
    }
    return refuse(waiting, {500, "InternalError", "the changes cannot be read"});
  }
}

bool PullLog::answer(postgres::Session& session, PullWaiting& waiting) {
  const auto consumer = consumers::find_leased_consumer(session, waiting.request.consumer);
  const auto& authorization = waiting.exchange->request().authorization;
  if (!consumer || consumer->is_webhook || !has_token(authorization, *consumer)) {
    return refuse(waiting,
                  {401, "Unauthorized", "there is no pull consumer with this name and token"});
  }
  if (!node_.serves(*consumer)) {
    return refuse(waiting, {409, "OtherDatabase",
                            fmt::format("this consumer was added with {}: ask the `skua serve` of "
                                        "that database",
                                        consumer->of_network ? "the query database"
                                                             : "the database of a node")});
  }
  if (waiting.request.action == PullAction::Fetch) return fetch(session, waiting, *consumer);
  end_lease(session, waiting, *consumer);
  return true;
}

bool PullLog::fetch(postgres::Session& session, PullWaiting& waiting,
                    const consumers::LeasedConsumer& consumer) {
  if (consumer.state != "running") {
    const bool is_stopped = consumer.state == "stopped";
    return refuse(waiting, {is_stopped ? 409U : 410U,
                            is_stopped ? "ConsumerStopped" : "CursorTooOld", consumer.error});
  }
  const auto filter = read_filter(session, consumer);
  if (!filter) {
    return refuse(waiting, {500, "InvalidFilter", filter.error()});
  }
  const consumers::Tuning tuning = consumer.tuning();
  const auto changes = lease_changes(session,
                                     {.consumer_id = consumer.id,
                                      .owner = consumers::new_lease_owner(),
                                      .duration = lease_time(waiting.request, tuning),
                                      .most = waiting.request.max,
                                      .ignores_pause = true,
                                      .processors = tuning.processors,
                                      .since_failure = lost_connections_.since_last(),
                                      .read_event = read_letter_event,
                                      .passed_moves = node_.passed(consumer.name)},
                                     *filter, node_.name);
  const auto& batch = changes.batch;
  const auto now = SteadyClock::now();
  if (!batch) {
    // A search ends when it has read each lane to the end of the log. New changes that do not pass
    // the filter would let it continue forever.
    waiting.lanes_at_end += changes.is_at_end ? 1 : 0;
    const bool continues = changes.has_more && waiting.lanes_at_end < consumer.lanes;
    if (!continues) {
      pass_on_(std::move(waiting), tuning.idle);
      return true;
    }
    if (now < waiting.search_end) {
      waiting.next_search = now;
      return false;
    }
    waiting.exchange->answer(Response{.body = R"({"changes":[],"more":true})"});
    return true;
  }
  count_batch(metrics_, *batch);
  waiting.exchange->answer(Response{.body = batch_json(*batch)});
  return true;
}

void PullLog::end_lease(postgres::Session& session, PullWaiting& waiting,
                        const consumers::LeasedConsumer& consumer) {
  const PullRequest& request = waiting.request;
  consumers::LeaseName lease = request.lease;
  lease.consumer_id = consumer.id;
  std::vector<Position> named;
  if (request.position) named.push_back(*request.position);
  for (const auto& one : request.rejected) named.push_back(one.position);
  if (!named.empty()) {
    const std::int32_t timeline = consumers::timeline_of(session, lease);
    const auto is_other = [&](const Position& one) { return one.timeline != timeline; };
    if (std::ranges::any_of(named, is_other)) {
      count_end(metrics_, BatchEnd::LeaseLost, consumers::LeaseResult::Lost);
      return waiting.exchange->answer(response_of(consumers::LeaseResult::Lost));
    }
  }
  waiting.exchange->answer(
      response_of(report(session, request, lease, lease_time(request, consumer.tuning()))));
}

consumers::LeaseResult PullLog::report(postgres::Session& session, const PullRequest& request,
                                       const consumers::LeaseName& lease, milliseconds duration) {
  if (request.action == PullAction::Renew) {
    return consumers::renew_lease(session, lease, duration);
  }
  std::optional<std::int64_t> pos;
  if (request.position) pos = request.position->pos;
  if (request.action == PullAction::Ack) {
    if (pos == request.last_change) pos.reset();
    consumers::Acknowledgement acknowledgement{
        .through = pos, .duration = duration, .read_event = read_letter_event};
    for (const auto& one : request.rejected) {
      acknowledgement.rejected.push_back({one.position.pos, one.error});
    }
    const auto result = consumers::acknowledge(session, lease, acknowledgement);
    count_end(metrics_, request.rejected.empty() ? BatchEnd::Acknowledged : BatchEnd::Failed,
              result);
    return result;
  }
  const auto result = consumers::report_failure(
      session, lease,
      {.pos = pos, .error = request.error, .wait = request.retry, .is_final = request.is_final},
      read_letter_event);
  count_end(metrics_, BatchEnd::Failed, result);
  return result;
}

bool PullLog::refuse(PullWaiting& waiting, PullRefusal with) {
  if (waiting.request.action != PullAction::Fetch) {
    waiting.refuse(with);
    return true;
  }
  waiting.note(std::move(with));
  pass_on_(std::move(waiting), kRefusedPause);
  return true;
}

std::string PullLog::batch_json(const LeasedBatch& batch) const {
  return fmt::format(
      R"({{"batch":"{}","attempts":{},"lease_until":"{}","lease_ms":{},"changes":{}}})",
      with_node(node_.name, lease_text(batch.lease, batch.changes.back().pos)),
      batch.attempt.number, format_datetime(batch.attempt.lease_until), batch.attempt.left.count(),
      changes_json(batch));
}

}  // namespace skua::streams
