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
  std::optional<transport::RateLimit> rate_limit = std::nullopt;
  std::uint64_t bytes = 0;
  /// How long the request took.
  std::chrono::microseconds duration{0};
  /// When HostLimits::started was called for it. The account's document is looked up between that
  /// moment and the request.
  Timestamp started_at{};
  /// For people; empty when all is well.
  std::string error = {};
};

/// Reads the outcome of a getRepo from its answer, all but `started_at`. Pure; any thread.
HostOutcome host_outcome(const Result<transport::HttpAnswer>& answer,
                         std::chrono::microseconds duration, Timestamp now);

}  // namespace skua::backfill
