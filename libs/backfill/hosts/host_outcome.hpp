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

/// The outcome of a download for its host. After a redirect this is the host that answered.
struct HostOutcome {
  enum class End : std::uint8_t {
    Answered,     // with the repository, or with an error that concerns only the repository
    Limited,      // 429
    Failed,       // an error of the host: 5xx, 403, a missing or incomplete answer
    Unreachable,  // no address, no connection, no TLS
    Ours,         // does not concern the host: a stop, a local limit, a full disk
  };
  End end = End::Answered;
  /// A repository was downloaded.
  bool repository = false;
  /// How long the host asks to wait, with any status.
  std::optional<std::chrono::seconds> asked_wait = std::nullopt;
  std::optional<transport::RateLimit> rate_limit = std::nullopt;
  std::uint64_t bytes = 0;
  /// The duration of the request.
  std::chrono::microseconds duration{0};
  /// When HostLimits::started was called for it. The look-up of the account's document happens
  /// between that time and the request.
  Timestamp started_at{};
  /// For people; empty: no error.
  std::string error = {};
};

/// The outcome of a getRepo for its host, except `started_at`. Pure; any thread.
HostOutcome host_outcome(const Result<transport::HttpAnswer>& answer,
                         std::chrono::microseconds duration, Timestamp now);

}  // namespace skua::backfill
