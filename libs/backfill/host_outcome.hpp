#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "transport/http_client.hpp"

namespace skua::backfill {

/// What a host says of its own limit (RateLimit-Limit, -Remaining, -Reset).
struct RateLimit {
  /// Requests a window; nothing when it does not say.
  std::optional<std::int64_t> limit;
  /// Left in this window; never negative.
  std::int64_t remaining = 0;
  /// The time until the next window; never negative, as long as it pleases the host.
  std::chrono::seconds until_reset{0};
};

/// How a download ended, as far as it says something about its host. Of a request that was
/// redirected it says something about the host that answered.
struct HostOutcome {
  enum class End : std::uint8_t {
    Answered,     // with what was asked for, or with a refusal that is about the repository
    Limited,      // 429
    Failed,       // an error of the host's: 5xx, 403, an answer that broke off or never came
    Unreachable,  // no name, no connection, no TLS
    Ours,         // nothing about the host: we stopped, or our own limit or disk was reached
  };
  End end = End::Answered;
  /// It brought a repository.
  bool repository = false;
  /// How long the host wants us to stay away, whatever it answered.
  std::optional<std::chrono::seconds> asked_wait = std::nullopt;
  std::optional<RateLimit> rate_limit = std::nullopt;
  std::uint64_t bytes = 0;
  /// From HostLimits::started until now: what began before the host had to be spared says nothing
  /// about it any more.
  std::chrono::microseconds duration{0};
  /// For people; empty when all is well.
  std::string error = {};
};

/// Reads the outcome off an answer of getRepo. Pure; any thread.
HostOutcome host_outcome(const Result<transport::HttpAnswer>& answer,
                         std::chrono::microseconds duration, Timestamp now);

}  // namespace skua::backfill
