#include "change_feed/leased/webhook_message.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/base64.hpp"
#include "atproto/hmac.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "base/utf8.hpp"
#include "change_feed/position.hpp"
#include "transport/errc.hpp"

namespace skua::change_feed {
namespace {

constexpr std::string_view kSecretPrefix = "whsec_";
constexpr std::size_t kSecretBytes = 32;
/// Of an answer: only a failure is read from it.
constexpr std::size_t kMaxAnswer = 16 * 1024;
constexpr std::size_t kAnswerCharacters = 300;
/// Shorter parts of a URL are words.
constexpr std::size_t kShortestSecret = 6;
constexpr std::string_view kHidden = "(hidden)";
/// Answers that are about the changes, and not about the receiver.
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

Position position_of(const ChangeEvent& event) {
  return {event.timeline, event.pos};
}

/// Text of an answer, without the parts of the path and query of the URL that may be a secret.
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

/// A failure of one change in the body of a successful answer.
std::optional<feed::LeaseFailure> failure_in(const std::string& body, const LeasedBatch& batch,
                                             const std::string& url) {
  const auto answer = nlohmann::json::parse(body, nullptr, false);
  if (!answer.is_object() || !answer.contains("failed")) return std::nullopt;
  const auto& failed = answer["failed"];
  feed::LeaseFailure failure{.pos = {}, .error = "the receiver refused a change", .wait = {}};
  if (!failed.is_object()) return failure;
  if (const auto error = failed.find("error"); error != failed.end() && error->is_string()) {
    failure.error = shown(error->get<std::string>(), url);
  }
  if (const auto retry = failed.find("retry"); retry != failed.end() && retry->is_boolean()) {
    failure.is_final = !retry->get<bool>();
  }
  const auto pos = failed.find("pos");
  if (pos == failed.end() || !pos->is_string()) return failure;
  for (const auto& event : batch.events) {
    if (position_of(*event).text() == pos->get_ref<const std::string&>()) failure.pos = event->pos;
  }
  if (!failure.pos) failure.error = "the receiver refused a change that it was not sent";
  return failure;
}

feed::FailureCause cause_of(ErrorCode error) {
  using transport::errc;
  if (error == errc::host_not_found || error == errc::host_lookup_failed) {
    return feed::FailureCause::Name;
  }
  if (error == errc::tls_failed || error == errc::tls_untrusted) return feed::FailureCause::Tls;
  if (error == errc::http_timed_out) return feed::FailureCause::Slow;
  if (error == errc::http_dropped) return feed::FailureCause::Change;
  if (error == errc::http_malformed) return feed::FailureCause::Address;
  return feed::FailureCause::Unreachable;
}

feed::FailureCause cause_of(unsigned status) {
  if (std::ranges::find(kAboutChanges, status) != kAboutChanges.end()) {
    return feed::FailureCause::Change;
  }
  if (status == 401 || status == 403 || status == 407) return feed::FailureCause::Refused;
  const bool asks_to_wait = status == 408 || status == 425 || status == 429 || status > 500;
  return asks_to_wait ? feed::FailureCause::Busy : feed::FailureCause::Address;
}

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
  const std::string id =
      fmt::format("{}:{}:{}", consumer, position_of(*batch.events.front()).text(),
                  position_of(*batch.events.back()).text());
  const std::int64_t timestamp =
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  const std::string body =
      fmt::format(R"({{"consumer":"{}","changes":{}}})", consumer, changes_json(batch));
  transport::HttpRequest request;
  request.url = url;
  request.origin = transport::HostOrigin::configured;
  request.headers = {{"webhook-id", id},
                     {"webhook-timestamp", std::to_string(timestamp)},
                     {"webhook-signature", webhook_signature(secret, id, timestamp, body)}};
  request.json = body;
  request.max_body_bytes = kMaxAnswer;
  request.plain = true;
  return request;
}

std::optional<feed::LeaseFailure> webhook_failure(const Result<transport::HttpAnswer>& answer,
                                                  const LeasedBatch& batch,
                                                  const std::string& url) {
  if (!answer) {
    // A change can make the receiver hang or crash; everything else concerns the receiver.
    const bool is_about_changes = answer.error() == transport::errc::http_timed_out ||
                                  answer.error() == transport::errc::http_dropped;
    return feed::LeaseFailure{.pos = {},
                              .error = "no answer: " + answer.error().message(),
                              .wait = {},
                              .is_temporary = !is_about_changes,
                              .cause = cause_of(answer.error())};
  }
  if (answer->status >= 200 && answer->status < 300) return failure_in(answer->body, batch, url);
  const feed::FailureCause cause = cause_of(answer->status);
  std::string error = fmt::format("HTTP {}", answer->status);
  if (!answer->body.empty()) error += ": " + shown(answer->body, url);
  feed::LeaseFailure failure{.pos = {},
                             .error = std::move(error),
                             .wait = {},
                             .is_temporary = cause != feed::FailureCause::Change,
                             .cause = cause};
  if (const auto wait = transport::asked_wait(*answer, system_clock().now())) failure.wait = *wait;
  return failure;
}

}  // namespace skua::change_feed
