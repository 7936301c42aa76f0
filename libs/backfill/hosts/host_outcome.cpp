#include "backfill/hosts/host_outcome.hpp"

#include "backfill/repository/repo_answer.hpp"
#include "transport/errc.hpp"

namespace skua::backfill {
namespace {

using End = HostOutcome::End;

End end_of_status(unsigned status) {
  constexpr unsigned kForbidden = 403;  // firewalls send it to clients with too many requests
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
    case transport::errc::http_no_room:
    case transport::errc::spool_failed:
      return End::Ours;
    case transport::errc::http_timed_out:
    case transport::errc::http_too_slow:
    case transport::errc::http_dropped:
    case transport::errc::http_malformed:
    case transport::errc::http_inflated:
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
    outcome.error = failure_message(answer);
  }
  if (!answer) {
    outcome.end = end_of_error(answer.error());
    return outcome;
  }
  outcome.end = end_of_status(answer->status);
  outcome.asked_wait = transport::asked_wait(*answer, now);
  outcome.rate_limit = transport::stated_rate_limit(*answer, now);
  outcome.bytes = transport::body_of(*answer).size();
  return outcome;
}

}  // namespace skua::backfill
