#include "streams/leased/pull_server.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/sha256.hpp"
#include "base/bytes.hpp"
#include "base/hex.hpp"
#include "base/log.hpp"
#include "base/problem.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "consumers/fold_step.hpp"
#include "postgres/connection_string.hpp"
#include "streams/leased/letter_event.hpp"

namespace skua::streams {

namespace {

using nlohmann::json;

constexpr std::int64_t kMostChanges = 10'000;
constexpr std::int64_t kLongestLease = 3'600;
/// A fetch waits at most this number of seconds, which is less than the server's limit for an
/// answer.
constexpr std::int64_t kLongestWait = 20;
constexpr std::int64_t kLongestRetry = 86'400;
constexpr std::size_t kErrorCharacters = 1'000;
constexpr std::size_t kMostRejected = 1'000;

const std::set<std::string>& members_of(PullAction action) {
  static const std::map<PullAction, std::set<std::string>> kMembers = {
      {PullAction::Fetch, {"consumer", "max", "lease_seconds", "wait_seconds"}},
      {PullAction::Ack, {"consumer", "batch", "through", "rejected", "lease_seconds"}},
      {PullAction::Nack, {"consumer", "batch", "pos", "error", "retry_seconds", "reject"}},
      {PullAction::Renew, {"consumer", "batch", "lease_seconds"}}};
  return kMembers.at(action);
}

/// Reads the members of a body, and keeps the first error.
class BodyReader {
 public:
  explicit BodyReader(const json& body) : body_(body) {}

  std::optional<std::int64_t> number(const char* name, std::int64_t least, std::int64_t most) {
    const auto found = body_.find(name);
    if (found == body_.end()) return std::nullopt;
    if (found->is_number_integer() && *found >= least && *found <= most) return *found;
    fail(fmt::format("{} is a number from {} to {}", name, least, most));
    return std::nullopt;
  }
  std::optional<std::string> text(const char* name) {
    const auto found = body_.find(name);
    if (found == body_.end()) return std::nullopt;
    if (found->is_string()) return found->get<std::string>();
    fail(fmt::format("{} is a text", name));
    return std::nullopt;
  }
  std::optional<bool> boolean(const char* name) {
    const auto found = body_.find(name);
    if (found == body_.end()) return std::nullopt;
    if (found->is_boolean()) return found->get<bool>();
    fail(fmt::format("{} is true or false", name));
    return std::nullopt;
  }
  std::optional<Position> position(const char* name) {
    const auto given = text(name);
    if (!given) return std::nullopt;
    auto position = parse_position(*given);
    if (!position) fail(fmt::format("{} is a position such as 1-4711", name));
    return position;
  }
  /// Reads the changes that an ack excludes.
  std::vector<PullRequest::Rejected> rejected() {
    std::vector<PullRequest::Rejected> all;
    const auto found = body_.find("rejected");
    if (found == body_.end()) return all;
    if (!found->is_array() || found->size() > kMostRejected) {
      fail(fmt::format("rejected is a list of at most {} changes", kMostRejected));
      return all;
    }
    for (const json& entry : *found) {
      BodyReader reader(entry);
      const auto position = entry.is_object() ? reader.position("pos") : std::nullopt;
      const auto error = entry.is_object() ? reader.text("error") : std::nullopt;
      const std::size_t known = (position ? 1U : 0U) + (error ? 1U : 0U);
      if (!position || entry.size() != known) {
        fail("an entry of rejected has pos, a position such as 1-4711, and possibly error, a text");
        return all;
      }
      all.push_back({*position, printable(error.value_or(kRefused), kErrorCharacters)});
    }
    return all;
  }
  void fail(std::string error) {
    if (error_.empty()) error_ = std::move(error);
  }
  const std::string& error() const { return error_; }

 private:
  const json& body_;
  std::string error_;
};

/// Returns false if the text does not have the form of a lease.
bool read_lease(const std::string& text, consumers::LeaseName& lease) {
  const auto first = text.find('-');
  const auto second = first == std::string::npos ? first : text.find('-', first + 1);
  if (second == std::string::npos || second + 1 == text.size()) return false;
  const char* start = text.data();
  const auto lane = std::from_chars(start, start + first, lease.lane);
  const auto epoch = std::from_chars(start + first + 1, start + second, lease.epoch);
  lease.owner = text.substr(second + 1);
  return lane.ec == std::errc() && lane.ptr == start + first && epoch.ec == std::errc() &&
         epoch.ptr == start + second;
}

using http_server::Exchange;
using http_server::Response;
using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// The time between two checks of all filters, as often as the filters of webhooks are read.
constexpr milliseconds kCheckFilters{1'000};

/// Returns the duration of the lease that a request asks for.
milliseconds lease_time(const PullRequest& request, const consumers::Tuning& tuning) {
  return request.lease_time ? milliseconds(*request.lease_time) : tuning.lease;
}

Response refusal(unsigned status, std::string_view error, std::string_view message) {
  return http_server::error_response(status, error, message);
}

/// Returns whether an Authorization header contains the token of a consumer.
bool has_token(const std::string& authorization, const consumers::LeasedConsumer& consumer) {
  const auto token = http_server::bearer_token(authorization);
  return token && token_hash(*token) == consumer.secret;
}

/// Returns the answer to a fetch.
std::string batch_json(const LeasedBatch& batch) {
  return fmt::format(
      R"({{"batch":"{}","attempts":{},"lease_until":"{}","lease_ms":{},"changes":{}}})",
      lease_text(batch.lease), batch.attempt.number, format_datetime(batch.attempt.lease_until),
      batch.attempt.left.count(), changes_json(batch));
}

Response response_of(consumers::LeaseResult result) {
  switch (result) {
    case consumers::LeaseResult::Lost:
      return refusal(409, "LeaseLost", "the lease has ended: the changes are delivered again");
    case consumers::LeaseResult::NotOfLease:
      return refusal(400, "InvalidRequest", "the position is not one of the batch");
    case consumers::LeaseResult::Held:
      return {.body = R"({"leased":true})"};
    case consumers::LeaseResult::Ended:
      break;
  }
  return {.body = R"({"leased":false})"};
}

}  // namespace

std::string token_hash(std::string_view token) {
  return hex_text(atproto::sha256(as_bytes(token)));
}

std::string lease_text(const consumers::LeaseName& lease) {
  return fmt::format("{}-{}-{}", lease.lane, lease.epoch, lease.owner);
}

Checked<PullRequest> parse_pull_request(PullAction action, const std::string& body) {
  // The parser builds no values that are nested deeper than valid ones, because the thread of the
  // sockets calls this function. Only an ack has a list of objects.
  const int deepest = action == PullAction::Ack ? 3 : 1;
  const auto is_shallow = [deepest](int depth, json::parse_event_t /*event*/,
                                    const json& /*value*/) { return depth <= deepest; };
  const json object = json::parse(body, is_shallow, false);
  if (!object.is_object()) return std::string("the body is not a JSON object");
  for (const auto& [name, value] : object.items()) {
    if (!members_of(action).contains(name)) {
      return fmt::format("unknown member '{}'", printable(name, 100));
    }
  }
  BodyReader reader(object);
  PullRequest request;
  request.action = action;
  request.consumer = reader.text("consumer").value_or("");
  if (request.consumer.empty()) reader.fail("consumer is missing");
  if (action != PullAction::Fetch &&
      !read_lease(reader.text("batch").value_or(""), request.lease)) {
    reader.fail("batch is not the batch of an answer to fetch");
  }
  const auto lease_seconds = reader.number("lease_seconds", 1, kLongestLease);
  if (lease_seconds) request.lease_time = std::chrono::seconds(*lease_seconds);
  request.max = static_cast<std::int32_t>(reader.number("max", 1, kMostChanges).value_or(100));
  request.wait = std::chrono::seconds(reader.number("wait_seconds", 0, kLongestWait).value_or(0));
  request.position = reader.position(action == PullAction::Ack ? "through" : "pos");
  if (action == PullAction::Ack) request.rejected = reader.rejected();
  request.is_final = reader.boolean("reject").value_or(false);
  if (const auto error = reader.text("error")) request.error = printable(*error, kErrorCharacters);
  if (const auto retry = reader.number("retry_seconds", 0, kLongestRetry)) {
    request.retry = std::chrono::seconds(*retry);
  }
  if (!reader.error().empty()) return reader.error();
  return request;
}

PullServer::PullServer(postgres::Runtime& runtime, milliseconds longest_search,
                       FeedMetrics& metrics)
    : metrics_(metrics),
      longest_search_(longest_search),
      thread_(runtime,
              {.session_name = postgres::process_name("skua pull"),
               .component = "pull",
               .failure = "pull consumers get no changes",
               .retries_sql_errors = true},
              [this](postgres::LazySession& session, const std::stop_token& stop) {
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
  const auto now = SteadyClock::now();
  const auto until = now + request->wait;
  arrived_.with([&](std::vector<Waiting>& arrived) {
    arrived.push_back({*std::move(request), exchange, until, now + longest_search_});
  });
  thread_.notify();
}

milliseconds PullServer::round(postgres::LazySession& lazy, const std::stop_token& /*stop*/) {
  auto arrived = arrived_.with([](std::vector<Waiting>& all) { return std::exchange(all, {}); });
  for (Waiting& waiting : arrived) waiting_.push_back(std::move(waiting));
  try {
    postgres::Session& session = lazy.get();
    check_filters(session);
    const auto next = std::min(answer_all(session), next_check_);
    const auto pause = std::chrono::ceil<milliseconds>(next - SteadyClock::now());
    return std::max(pause, milliseconds(0));
  } catch (const postgres::SqlError&) {
    lost_connections_.note();
    for (const Waiting& waiting : waiting_) {
      waiting.exchange->answer(
          refusal(503, "DatabaseUnavailable", "the database does not answer: try again later"));
    }
    waiting_.clear();
    throw;
  }
}

SteadyClock::time_point PullServer::answer_all(postgres::Session& session) {
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

void PullServer::check_filters(postgres::Session& session) {
  if (SteadyClock::now() < next_check_) return;
  for (const auto& consumer : consumers::read_pull_consumers(session)) {
    static_cast<void>(read_filter(session, consumer));
  }
  next_check_ = SteadyClock::now() + kCheckFilters;
}

bool PullServer::try_answer(postgres::Session& session, Waiting& waiting) {
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
    waiting.exchange->answer(refusal(500, "InternalError", "the changes cannot be read"));
    return true;
  }
}

bool PullServer::answer(postgres::Session& session, Waiting& waiting) {
  const auto consumer = consumers::find_leased_consumer(session, waiting.request.consumer);
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

bool PullServer::fetch(postgres::Session& session, Waiting& waiting,
                       const consumers::LeasedConsumer& consumer) {
  if (consumer.state != "running") {
    const bool is_stopped = consumer.state == "stopped";
    waiting.exchange->answer(refusal(
        is_stopped ? 409 : 410, is_stopped ? "ConsumerStopped" : "CursorTooOld", consumer.error));
    return true;
  }
  const auto filter = read_filter(session, consumer);
  if (!filter) {
    waiting.exchange->answer(refusal(500, "InvalidFilter", filter.error()));
    return true;
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
                                      .read_event = read_letter_event},
                                     *filter);
  const auto& batch = changes.batch;
  const auto now = SteadyClock::now();
  if (!batch) {
    // A search ends when it has read each lane to the end of the log. New changes that do not pass
    // the filter would let it continue forever.
    waiting.lanes_at_end += changes.is_at_end ? 1 : 0;
    const bool continues = changes.has_more && waiting.lanes_at_end < consumer.lanes;
    if (!continues) waiting.lanes_at_end = 0;
    if (continues ? now < waiting.search_end : now < waiting.until) {
      waiting.next_search = continues ? now : now + tuning.idle;
      return false;
    }
    waiting.exchange->answer(
        Response{.body = continues ? R"({"changes":[],"more":true})" : R"({"changes":[]})"});
    return true;
  }
  count_batch(metrics_, *batch);
  waiting.exchange->answer(Response{.body = batch_json(*batch)});
  return true;
}

void PullServer::end_lease(postgres::Session& session, Waiting& waiting,
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

consumers::LeaseResult PullServer::report(postgres::Session& session, const PullRequest& request,
                                          const consumers::LeaseName& lease,
                                          milliseconds duration) {
  if (request.action == PullAction::Renew) {
    return consumers::renew_lease(session, lease, duration);
  }
  std::optional<std::int64_t> pos;
  if (request.position) pos = request.position->pos;
  if (request.action == PullAction::Ack) {
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

}  // namespace skua::streams
