#pragma once

#include <chrono>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "transport/adaptive_limit.hpp"
#include "transport/http_client.hpp"

namespace skua::backfill {

/// The outcome of a download for its host. After a redirect this is the host that answered.
/// `started_at`: when HostLimits::started was called for it. The look-up of the account's document
/// happens between that time and the request.
struct HostOutcome : transport::RequestOutcome {
  /// A repository was downloaded.
  bool repository = false;
  /// For people; empty: no error.
  std::string error = {};
};

/// The outcome of a getRepo for its host, except `started_at`. Pure; any thread.
HostOutcome host_outcome(const Result<transport::HttpAnswer>& answer,
                         std::chrono::microseconds duration, Timestamp now);

}  // namespace skua::backfill
