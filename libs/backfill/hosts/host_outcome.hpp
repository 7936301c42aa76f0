#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "transport/http_client.hpp"
#include "transport/rate_limit.hpp"

namespace skua::backfill {

/// How a download ended, as far as it concerns its host. After a redirect it concerns the host that
/// answered.
struct HostOutcome {
  enum class End : std::uint8_t {
    Answered,     // with the repository, or with a refusal that concerns the repository
    Limited,      // 429
    Failed,       // an error of the host: 5xx, 403, an answer that is incomplete or never came
    Unreachable,  // no name, no connection, no TLS
    Ours,         // does not concern the host: a stop, a local limit, a full disk
  };
  End end = End::Answered;
  /// A repository was downloaded.
  bool repository = false;
  /// How long the host asks to wait, whatever it answered.
  std::optional<std::chrono::seconds> asked_wait = std::nullopt;
  std::optional<transport::RateLimit> rate_limit = std::nullopt;
  std::uint64_t bytes = 0;
  /// The duration of the request.
  std::chrono::microseconds duration{0};
  /// When HostLimits::started was called for it. The account's document is looked up between that
  /// time and the request.
  Timestamp started_at{};
  /// For people; empty: there is no error.
  std::string error = {};
};

/// Reads the outcome of a getRepo from its answer, all but `started_at`. Pure; any thread.
HostOutcome host_outcome(const Result<transport::HttpAnswer>& answer,
                         std::chrono::microseconds duration, Timestamp now);

}  // namespace skua::backfill
