#include "streams/leased/webhook_sender.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/base64.hpp"
#include "atproto/sha256.hpp"
#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "base/problem.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "consumers/fold_step.hpp"
#include "consumers/tuning.hpp"
#include "postgres/connection_string.hpp"
#include "streams/leased/leased_batch.hpp"
#include "streams/leased/letter_event.hpp"
#include "transport/errc.hpp"

namespace skua::streams {

namespace {

constexpr std::string_view kSecretPrefix = "whsec_";
constexpr std::size_t kSecretBytes = 32;
/// The maximum size of an answer, which is only read for a failure.
constexpr std::size_t kMaxAnswer = 16 * 1024;
constexpr std::size_t kAnswerCharacters = 300;
/// Parts of a URL that are shorter than this are taken for words and not for secrets.
constexpr std::size_t kShortestSecret = 6;
constexpr std::string_view kHidden = "(hidden)";
/// The status codes of answers that concern the changes, and not the receiver.
constexpr std::array<unsigned, 5> kAboutChanges = {400, 409, 413, 422, 500};

ByteView bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string base64_of(ByteView bytes) {
  std::string text;
  atproto::append_base64(text, bytes);
  while (text.size() % 4 != 0) text += '=';
  return text;
}

/// Returns printable text of an answer, and hides parts of the path and query of the URL that may
/// be a secret.
std::string shown(std::string text, const std::string& url) {
  constexpr std::string_view kEnds = "/?&=#";
  const std::size_t scheme = url.find("://");
  std::size_t at = url.find_first_of(kEnds, scheme == std::string::npos ? 0 : scheme + 3);
  while (at < url.size()) {
    const std::size_t begin = at + 1;
    at = std::min(url.find_first_of(kEnds, begin), url.size());
    const std::string part = url.substr(begin, at - begin);
    if (part.size() < kShortestSecret) continue;
    for (auto found = text.find(part); found != std::string::npos;
         found = text.find(part, found + kHidden.size())) {
      text.replace(found, part.size(), kHidden);
    }
  }
  return printable(text, kAnswerCharacters);
}

constexpr const char* kRefusedChange = "the receiver refused a change";
constexpr const char* kUnknownChange = "the receiver refused a change that it was not sent";

/// Reads the answers of a receiver that name changes of a batch.
class NamedChanges {
 public:
  NamedChanges(const LeasedBatch& batch, const std::string& url) : batch_(batch), url_(url) {}

  /// Reads the member `failed`: the changes before this one are processed.
  consumers::LeaseFailure failed(const nlohmann::json& failed) const {
    consumers::LeaseFailure failure{.pos = {}, .error = kRefusedChange, .wait = {}};
    if (!failed.is_object()) return failure;
    failure.error = error_of(failed);
    if (const auto retry = failed.find("retry"); retry != failed.end() && retry->is_boolean()) {
      failure.is_final = !retry->get<bool>();
    }
    if (!failed.contains("pos") || !failed["pos"].is_string()) return failure;
    failure.pos = position_of(failed);
    if (!failure.pos) failure.error = kUnknownChange;
    return failure;
  }

  /// Reads the member `rejected`: all other changes are processed. Returns nothing if it does not
  /// name changes of the batch.
  std::optional<std::vector<consumers::Rejection>> rejected(const nlohmann::json& list) const {
    if (!list.is_array()) return std::nullopt;
    std::vector<consumers::Rejection> all;
    for (const nlohmann::json& one : list) {
      const auto pos = one.is_object() ? position_of(one) : std::nullopt;
      if (!pos) return std::nullopt;
      all.push_back({*pos, error_of(one)});
    }
    return all;
  }

 private:
  std::string error_of(const nlohmann::json& named) const {
    const auto error = named.find("error");
    const bool has_error = error != named.end() && error->is_string();
    return has_error ? shown(error->get<std::string>(), url_) : kRefusedChange;
  }
  std::optional<std::int64_t> position_of(const nlohmann::json& named) const {
    const auto pos = named.find("pos");
    if (pos == named.end() || !pos->is_string()) return std::nullopt;
    const auto& text = pos->get_ref<const std::string&>();
    const auto found = std::ranges::find(batch_.changes, text, &SentChange::position);
    return found == batch_.changes.end() ? std::nullopt : std::optional(found->pos);
  }

  const LeasedBatch& batch_;
  const std::string& url_;
};

/// Returns the outcome that the body of a successful answer reports.
WebhookOutcome outcome_in(const std::string& body, const LeasedBatch& batch,
                          const std::string& url) {
  const auto answer = nlohmann::json::parse(body, nullptr, false);
  if (!answer.is_object()) return {};
  const NamedChanges named(batch, url);
  WebhookOutcome outcome;
  if (const auto failed = answer.find("failed"); failed != answer.end()) {
    outcome.failure = named.failed(*failed);
  }
  const auto list = answer.find("rejected");
  if (list == answer.end()) return outcome;
  auto rejected = named.rejected(*list);
  if (!rejected) {
    if (!outcome.failure) {
      outcome.failure = consumers::LeaseFailure{.pos = {}, .error = kUnknownChange, .wait = {}};
    }
    return outcome;
  }
  // The changes from the failed one on are sent again.
  if (outcome.failure) {
    const std::int64_t end = outcome.failure->pos.value_or(0);
    std::erase_if(*rejected, [end](const auto& one) { return one.pos >= end; });
  }
  outcome.rejected = *std::move(rejected);
  return outcome;
}

consumers::FailureCause cause_of(ErrorCode error) {
  using transport::errc;
  if (error == errc::host_not_found || error == errc::host_lookup_failed) {
    return consumers::FailureCause::Name;
  }
  if (error == errc::tls_failed || error == errc::tls_untrusted)
    return consumers::FailureCause::Tls;
  if (error == errc::http_timed_out) return consumers::FailureCause::Slow;
  if (error == errc::http_dropped) return consumers::FailureCause::Change;
  if (error == errc::http_malformed) return consumers::FailureCause::Address;
  return consumers::FailureCause::Unreachable;
}

consumers::FailureCause cause_of(unsigned status) {
  if (std::ranges::find(kAboutChanges, status) != kAboutChanges.end()) {
    return consumers::FailureCause::Change;
  }
  if (status == 401 || status == 403 || status == 407) return consumers::FailureCause::Refused;
  const bool asks_to_wait = status == 408 || status == 425 || status == 429 || status > 500;
  return asks_to_wait ? consumers::FailureCause::Busy : consumers::FailureCause::Address;
}

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kReadWebhooks{1'000};
/// A lease outlives its request by this time, so that the outcome can be stored.
constexpr milliseconds kAfterRequest{5'000};
/// The maximum number of simultaneous requests of all webhooks. Further requests wait; the number
/// of lanes limits them.
constexpr std::size_t kAtOnce = 256;

}  // namespace

std::string webhook_signature(const std::string& secret, const std::string& id,
                              std::int64_t timestamp, const std::string& body) {
  std::string_view text = secret;
  if (text.starts_with(kSecretPrefix)) text.remove_prefix(kSecretPrefix.size());
  const Bytes key = atproto::parse_base64(text).value_or(Bytes());
  const auto digest =
      atproto::hmac_sha256(key, bytes_of(fmt::format("{}.{}.{}", id, timestamp, body)));
  return "v1," + base64_of(digest);
}

std::string new_webhook_secret() {
  return std::string(kSecretPrefix) + base64_of(random_bytes(kSecretBytes));
}

transport::HttpRequest webhook_request(const std::string& consumer, const std::string& url,
                                       const std::string& secret, const LeasedBatch& batch,
                                       Timestamp now) {
  const std::string id = fmt::format("{}:{}:{}", consumer, batch.changes.front().position,
                                     batch.changes.back().position);
  const std::int64_t timestamp =
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  const std::string body =
      fmt::format(R"({{"consumer":"{}","changes":{}}})", consumer, changes_json(batch));
  transport::HttpRequest request;
  request.url = url;
  request.origin = transport::HostOrigin::configured;
  request.headers = {{"webhook-id", id},
                     {"webhook-timestamp", std::to_string(timestamp)},
                     {"webhook-signature", webhook_signature(secret, id, timestamp, body)},
                     {"webhook-attempts", std::to_string(batch.attempt.number)},
                     {"webhook-lease-until", format_datetime(batch.attempt.lease_until)},
                     {"webhook-lease-ms", std::to_string(batch.attempt.left.count())}};
  request.json = body;
  request.max_body_bytes = kMaxAnswer;
  request.plain = true;
  return request;
}

WebhookOutcome webhook_outcome(const Result<transport::HttpAnswer>& answer,
                               const LeasedBatch& batch, const std::string& url) {
  if (!answer) {
    // A change can make the receiver hang or crash; all other errors concern the receiver.
    const bool is_about_changes = answer.error() == transport::errc::http_timed_out ||
                                  answer.error() == transport::errc::http_dropped;
    return {.failure = consumers::LeaseFailure{.pos = {},
                                               .error = "no answer: " + answer.error().message(),
                                               .wait = {},
                                               .is_temporary = !is_about_changes,
                                               .cause = cause_of(answer.error())}};
  }
  if (answer->status >= 200 && answer->status < 300) return outcome_in(answer->body, batch, url);
  const consumers::FailureCause cause = cause_of(answer->status);
  std::string error = fmt::format("HTTP {}", answer->status);
  if (!answer->body.empty()) error += ": " + shown(answer->body, url);
  consumers::LeaseFailure failure{.pos = {},
                                  .error = std::move(error),
                                  .wait = {},
                                  .is_temporary = cause != consumers::FailureCause::Change,
                                  .cause = cause};
  if (const auto wait = transport::asked_wait(*answer, system_clock().now())) failure.wait = *wait;
  return {.failure = std::move(failure)};
}

WebhookSender::WebhookSender(postgres::Runtime& runtime, Options options, FeedMetrics& metrics,
                             ServedNode node)
    : runtime_(runtime),
      options_(std::move(options)),
      node_(std::move(node)),
      metrics_(metrics),
      thread_(runtime,
              {.session_name = postgres::process_name(consumers::kWebhooksSession),
               .component = "webhook",
               .failure = "webhooks get no changes",
               .retries_sql_errors = true},
              [this](postgres::LazySession& session, const std::stop_token& stop) {
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
    postgres::Session session(runtime_.database_url, postgres::process_name("skua stop"));
    store_outcomes(session);
  } catch (const postgres::SqlError& error) {
    logger("webhook")->warn("leases stay until they expire: {}", error.what());
  }
}

milliseconds WebhookSender::round(postgres::LazySession& lazy, const std::stop_token& stop) {
  try {
    return serve(lazy.get(), stop);
  } catch (const postgres::SqlError&) {
    lost_connections_.note();
    throw;
  }
}

milliseconds WebhookSender::serve(postgres::Session& session, const std::stop_token& stop) {
  store_outcomes(session);
  bool has_more = false;
  if (SteadyClock::now() >= read_again_) read_webhooks(session);
  milliseconds pause = kReadWebhooks;
  for (auto& [id, served] : served_) {
    pause = std::min(pause, served.tuning.idle);
    try {
      has_more = send_due(session, served, stop) || has_more;
    } catch (const postgres::SqlError& error) {
      if (consumers::failed_work(error) == consumers::FailedWork::Server) throw;
      // The webhook waits, and other webhooks continue.
      served.not_before = SteadyClock::now() + options_.longest_wait;
      consumers::note_unreadable(session, id, consumers::FailureCause::Tables, error.what(),
                                 options_.longest_wait);
      logger("webhook")->error("{}: its changes cannot be read: {}", served.consumer.name,
                               with_code(error.what(), problem("consumer-stuck")));
    }
  }
  return has_more ? milliseconds(0) : pause;
}

bool WebhookSender::send_due(postgres::Session& session, Served& served,
                             const std::stop_token& stop) {
  bool has_more = false;
  while (!stop.stop_requested() && SteadyClock::now() >= served.not_before) {
    const int most = served.failures_in_a_row > 0 ? 1 : served.tuning.processors;
    if (served.requests >= std::min(most, static_cast<int>(served.consumer.lanes))) break;
    auto changes = lease_changes(session,
                                 {.consumer_id = served.consumer.id,
                                  .owner = consumers::new_lease_owner(),
                                  .duration = options_.request_time + kAfterRequest,
                                  .processors = served.tuning.processors,
                                  .since_failure = lost_connections_.since_last(),
                                  .read_event = read_letter_event,
                                  .passed_moves = node_.passed(served.consumer.name)},
                                 served.filter, node_.name);
    has_more = has_more || changes.has_more;
    if (!changes.batch) break;
    // The receiver learns the time in which it must answer.
    consumers::Attempt& attempt = changes.batch->attempt;
    attempt.lease_until -= kAfterRequest;
    attempt.left = std::max(milliseconds(0), attempt.left - kAfterRequest);
    crash_point("after_webhook_lease");
    send(served, *std::move(changes.batch));
  }
  return has_more;
}

void WebhookSender::read_webhooks(postgres::Session& session) {
  read_again_ = SteadyClock::now() + kReadWebhooks;
  node_.update(session);
  std::map<std::int32_t, Served> present;
  for (consumers::LeasedConsumer& consumer : consumers::read_webhooks(session)) {
    if (!node_.serves(consumer)) continue;
    auto filter = read_filter(session, consumer);
    if (!filter) continue;
    const std::int32_t id = consumer.id;
    Served& served = present[id];
    if (const auto known = served_.find(id); known != served_.end()) served = known->second;
    // An operator can end the wait, or name another receiver.
    if (!consumer.waits_after_failure) served.not_before = {};
    served.tuning = consumer.tuning();
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
        Outcome outcome{id, batch.lease, webhook_outcome(answer, batch, url)};
        outcomes_.with([&](std::vector<Outcome>& all) { all.push_back(std::move(outcome)); });
        thread_.notify();
      });
}

void WebhookSender::store_outcomes(postgres::Session& session) {
  auto outcomes = outcomes_.with([](std::vector<Outcome>& all) { return std::exchange(all, {}); });
  std::size_t stored = 0;
  try {
    for (; stored < outcomes.size(); ++stored) {
      store_outcome(session, outcomes[stored]);
      count_end_of_request(outcomes[stored]);
    }
  } catch (const postgres::SqlError& error) {
    // After a failure of the server or a lock, the next round stores the outcome, so that no lease
    // expires although the receiver has answered. Any other error would come again: the lease
    // expires.
    const consumers::FailedWork failed = consumers::failed_work(error);
    if (failed != consumers::FailedWork::Server && failed != consumers::FailedWork::Lock) {
      count_end_of_request(outcomes[stored]);
      ++stored;
    }
    outcomes_.with([&](std::vector<Outcome>& all) {
      all.insert(all.begin(),
                 std::move_iterator(outcomes.begin() + static_cast<std::ptrdiff_t>(stored)),
                 std::move_iterator(outcomes.end()));
    });
    throw;
  }
}

void WebhookSender::count_end_of_request(const Outcome& outcome) {
  const auto served = served_.find(outcome.consumer_id);
  if (served == served_.end()) return;
  served->second.requests = std::max(0, served->second.requests - 1);
}

void WebhookSender::store_outcome(postgres::Session& session, const Outcome& outcome) {
  crash_point("before_webhook_outcome");
  const auto found = served_.find(outcome.consumer_id);
  Served* served = found == served_.end() ? nullptr : &found->second;
  const auto& [rejected, failure] = outcome.delivery;
  consumers::LeaseResult result = consumers::LeaseResult::Held;
  if (!failure || !rejected.empty()) {
    consumers::Acknowledgement acknowledgement{.rejected = rejected,
                                               .read_event = read_letter_event};
    if (failure) acknowledgement.through = *failure->pos - 1;
    result = consumers::acknowledge(session, outcome.lease, acknowledgement);
  }
  if (failure && result == consumers::LeaseResult::Held) {
    store_failure(session, outcome, served);
    return;
  }
  count_end(metrics_, rejected.empty() ? BatchEnd::Acknowledged : BatchEnd::Failed, result);
  if (served != nullptr) {
    served->failures_in_a_row = 0;
    served->not_before = {};
  }
}

void WebhookSender::store_failure(postgres::Session& session, const Outcome& outcome,
                                  Served* served) {
  consumers::LeaseFailure failure = *outcome.delivery.failure;
  if (failure.is_temporary && served != nullptr) {
    // Requests that fail at the same time count as one failure.
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
            consumers::report_failure(session, outcome.lease, failure, read_letter_event));
}

}  // namespace skua::streams
