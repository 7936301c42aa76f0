#include "identity/document_requests.hpp"

#include <utility>

#include "atproto/syntax.hpp"
#include "identity/errc.hpp"
#include "transport/errc.hpp"

namespace skua::identity {
namespace {

/// How an answer of the directory ended, as far as it concerns the directory's load.
RequestOutcome::End end_of(const Result<Account>& account) {
  if (account || !is_server_failure(account.error())) return RequestOutcome::End::Answered;
  const auto error = account.error();
  if (error == errc::rate_limited) return RequestOutcome::End::Limited;
  if (error == transport::errc::http_busy || error == transport::errc::http_stopped ||
      error == transport::errc::spool_failed) {
    return RequestOutcome::End::Ours;
  }
  return RequestOutcome::End::Failed;
}

}  // namespace

DocumentRequests::DocumentRequests(const DocumentRequestsOptions& options)
    : directory_(options.directory),
      web_(options.web_at_once, options.web_at_once_of_one_site),
      web_budget_(options.web_per_second) {}

void DocumentRequests::push(std::string did) {
  if (atproto::is_plc_did(did)) {
    plc_.push_back(std::move(did));
  } else {
    web_.push(std::move(did));
  }
}

void DocumentRequests::repeat(std::string plc_did) {
  plc_.push_front(std::move(plc_did));
}

std::optional<std::string> DocumentRequests::next(Timestamp now) {
  if (!plc_.empty() && directory_.start(now)) {
    std::string did = std::move(plc_.front());
    plc_.pop_front();
    return did;
  }
  if (web_.has_next() && web_budget_.take(now)) return web_.take();
  return std::nullopt;
}

void DocumentRequests::finished(const std::string& did, const DidAnswer& answer,
                                Timestamp started_at, std::chrono::microseconds duration,
                                Timestamp now) {
  if (!atproto::is_plc_did(did)) return web_.finished(did);
  const RequestOutcome::End end = end_of(answer.account);
  if (end == RequestOutcome::End::Failed) ++directory_failures_;
  if (end == RequestOutcome::End::Answered) directory_failures_ = 0;
  directory_.finished({.end = end,
                       .started_at = started_at,
                       .duration = duration,
                       .asked_wait = answer.wait,
                       .rate_limit = answer.rate_limit},
                      now);
}

bool DocumentRequests::waits_for_time() const {
  const bool plc = !plc_.empty() && directory_.under_way() < directory_.at_once();
  return plc || web_.has_next();
}

}  // namespace skua::identity
