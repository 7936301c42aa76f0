#include "backfill/host_outcome.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "backfill/repo_answer.hpp"
#include "transport/errc.hpp"

namespace skua::backfill {
namespace {

using End = HostOutcome::End;
using std::chrono::seconds;

/// Whole seconds or requests. Larger numbers are those of nobody who means them.
std::optional<std::int64_t> number_of(std::string_view text) {
  constexpr std::int64_t kLargest = 100'000'000'000;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return std::min(number, kLargest);
}

std::optional<RateLimit> rate_limit_of(transport::HttpAnswer head, Timestamp now) {
  const auto remaining = number_of(head.rate_limit_remaining);
  if (!remaining) return std::nullopt;
  // asked_wait knows both forms of a reset, but speaks only when nothing remains.
  head.retry_after.clear();
  head.rate_limit_remaining = "0";
  const auto until_reset = transport::asked_wait(head, now);
  if (!until_reset) return std::nullopt;
  return RateLimit{number_of(head.rate_limit), *remaining, *until_reset};
}

/// The headers that asked_wait and rate_limit_of look at, without the body.
transport::HttpAnswer head_of(const transport::HttpAnswer& answer) {
  transport::HttpAnswer head;
  head.retry_after = answer.retry_after;
  head.rate_limit = answer.rate_limit;
  head.rate_limit_remaining = answer.rate_limit_remaining;
  head.rate_limit_reset = answer.rate_limit_reset;
  return head;
}

End end_of_status(unsigned status) {
  constexpr unsigned kForbidden = 403;  // what a firewall says to a guest who comes too often
  constexpr unsigned kTimeout = 408;
  constexpr unsigned kTooMany = 429;
  if (status == kTooMany) return End::Limited;
  if (status == kForbidden || status == kTimeout || status >= 500) return End::Failed;
  return End::Answered;
}

End end_of_error(const ErrorCode& error) {
  if (error.category() != make_error_code(transport::errc::http_busy).category()) return End::Ours;
  switch (static_cast<transport::errc>(error.value())) {
    case transport::errc::http_busy:
    case transport::errc::http_stopped:
    case transport::errc::http_too_large:
    case transport::errc::spool_failed:
      return End::Ours;
    case transport::errc::http_timed_out:
    case transport::errc::http_too_slow:
    case transport::errc::http_dropped:
    case transport::errc::http_malformed:
    case transport::errc::http_too_many_redirects:
    case transport::errc::http_bad_redirect:
    case transport::errc::http_downgrade:
      return End::Failed;
    default:
      return End::Unreachable;
  }
}

}  // namespace

HostOutcome host_outcome(const Result<transport::HttpAnswer>& answer,
                         std::chrono::microseconds duration, Timestamp now) {
  HostOutcome outcome;
  outcome.duration = duration;
  const auto meaning = classify_repo_answer(answer, now);
  outcome.repository = std::holds_alternative<CarAnswer>(meaning);
  if (std::holds_alternative<HostLimited>(meaning) ||
      std::holds_alternative<RequestFailed>(meaning)) {
    outcome.error = failure_words(answer);
  }
  if (!answer) {
    outcome.end = end_of_error(answer.error());
    return outcome;
  }
  const auto head = head_of(*answer);
  outcome.end = end_of_status(answer->status);
  outcome.asked_wait = transport::asked_wait(head, now);
  outcome.rate_limit = rate_limit_of(head, now);
  outcome.bytes = transport::body_of(*answer).size();
  return outcome;
}

}  // namespace skua::backfill
