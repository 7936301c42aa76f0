#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "transport/http_client.hpp"

namespace skua::transport {

/// The request limit that a host states in an answer (RateLimit-Limit, -Remaining, -Reset).
struct RateLimit {
  /// Requests in a window; nothing when the host does not state it.
  std::optional<std::int64_t> limit;
  /// Requests that remain in this window; never negative.
  std::int64_t remaining = 0;
  /// The time until the next window. Never negative, but unbounded: the caller sets a limit.
  std::chrono::seconds until_reset{0};
};

/// The limit that an answer states. Nothing if there is none, or if it is meaningless.
std::optional<RateLimit> stated_rate_limit(const HttpAnswer& answer, Timestamp now);

/// Spreads the last tenth of a stated limit over the rest of its window. No clock of its own; one
/// thread.
class RateLimitSpacing {
 public:
  /// Takes a limit from an answer, which may not include the `under_way` active requests. Fewer
  /// than `few` remaining requests are always spread, even if a tenth of the limit is less.
  /// `longest` bounds the window.
  void state(const RateLimit& stated, std::size_t under_way, std::size_t few,
             std::chrono::seconds longest, Timestamp now);

  /// When the next request may start, if the last one started at `last_start`.
  Timestamp next_start(Timestamp last_start) const {
    return std::min(until_, last_start + spacing_);
  }
  /// The end of the period in which requests are spread.
  Timestamp until() const { return until_; }

 private:
  Timestamp until_;
  std::chrono::microseconds spacing_{0};
};

}  // namespace skua::transport
