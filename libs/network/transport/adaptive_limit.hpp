#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "transport/http_client.hpp"

namespace skua::transport {

/// Allows a number of requests a second, and after a quiet time as many at once. A budget has no
/// clock of its own. One thread.
class RequestBudget {
 public:
  explicit RequestBudget(double per_second) : per_second_(per_second), left_(burst()) {}

  double per_second() const { return per_second_; }

  /// Changes the number of requests a second from now on.
  void set_rate(double per_second, Timestamp now) {
    left_ = left(now);
    last_ = now;
    per_second_ = per_second;
    left_ = std::min(left_, burst());
  }

  /// The number of requests that may be made now.
  double left(Timestamp now) const {
    const std::chrono::duration<double> passed = now - last_;
    // A clock that was set back changes nothing.
    return std::min(burst(), left_ + std::max(0.0, passed.count()) * per_second_);
  }

  /// Returns whether a request may be made now. If so, the request counts.
  bool take(Timestamp now) {
    left_ = left(now);
    last_ = now;
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  double burst() const { return std::max(1.0, per_second_); }

  double per_second_;
  double left_;
  Timestamp last_;
};

/// The result of a request for the judgement of the server.
struct RequestOutcome {
  enum class End : std::uint8_t {
    Answered,     // the requested data, or an error that concerns only its subject
    Limited,      // the server answered 429
    Failed,       // an error of the server: 5xx, a missing or incomplete answer
    Unreachable,  // no address, no connection or no TLS
    Ours,         // does not concern the server: a stop, a local limit or a full disk
  };
  End end = End::Answered;
  /// The time at which AdaptiveLimit::started was called for the request. The request may have
  /// begun later.
  Timestamp started_at{};
  /// The duration of the request.
  std::chrono::microseconds duration{0};
  std::uint64_t bytes = 0;
  /// The wait that the server asks for, with any status.
  std::optional<std::chrono::seconds> asked_wait = std::nullopt;
  std::optional<RateLimit> rate_limit = std::nullopt;
};

struct AdaptiveLimitOptions {
  enum class Unit : std::uint8_t { AtOnce, PerSecond };
  Unit unit = Unit::AtOnce;
  /// The initial limit, and the bounds of its adaptation.
  double at_first = 4;
  double at_least = 1;
  double at_most = 16;
  /// The limit of active requests for a limit of requests a second.
  std::size_t active_at_most = 64;
  /// The longest wait, even if the server asks for a longer one.
  std::chrono::seconds longest_wait = std::chrono::hours(1);
};

/// Returns the options for a host that any account may name.
inline AdaptiveLimitOptions requests_at_once() {
  return {};
}
/// Returns the options for a server that answers many short requests.
inline AdaptiveLimitOptions requests_per_second() {
  return {.unit = AdaptiveLimitOptions::Unit::PerSecond,
          .at_first = 50,
          .at_least = 5,
          .at_most = 500,
          .longest_wait = std::chrono::minutes(5)};
}

/// Adapts the limit of requests to one server, and the time of the next request, to the answers:
///
/// - The limit grows by one with each fast answer until the first sign of overload. From then on it
///   grows by one (requests at once) or ten (requests a second) after as many fast answers as the
///   limit. It grows only while it is used up.
/// - A sign of overload halves the limit, once for all requests that were active. Signs are a 429,
///   a failed connection, and a failure (for requests a second only the second failure in a row).
///   For requests a second an answer after two seconds is also a sign, but does not lower the limit
///   below `at_first`.
/// - Waits that the server asks for are observed. A limit of requests at once backs off. Without a
///   stated time its wait doubles, after a 429 from 5 s to 5 min. After a second failure in a row,
///   or without a connection, it doubles from 2 s to 10 min. After a wait one request is active at
///   a time. A limit of requests a second waits 10 s after a 429 that states no time.
/// - If the server states a limit, its last tenth is spread over the rest of its window.
///
/// A limit of requests a second allows as many active requests as it allows starts in a quarter of
/// a second, so a slower server gets fewer requests at once. No clock of its own, no I/O; one
/// thread.
class AdaptiveLimit {
 public:
  explicit AdaptiveLimit(const AdaptiveLimitOptions& options);

  /// Returns whether a waiting request may start now. If so, the request counts as started.
  bool start(Timestamp now);

  /// The number of requests that may start now.
  std::size_t free(Timestamp now) const;
  void started(Timestamp now);
  /// Must be called once for each started request. Throws std::logic_error if no request is active.
  void finished(const RequestOutcome& outcome, Timestamp now);

  /// Returns the time at which requests may start after a wait. Returns nothing if they may start
  /// now, or if an active request must finish first.
  std::optional<Timestamp> next_start(Timestamp now) const;
  /// Returns the time since which there has been no active request and no wait. The time is later
  /// than `now` during a wait. Returns nothing if a request is active.
  std::optional<Timestamp> idle_since() const;

  /// The limit in its unit.
  double limit() const { return limit_; }
  std::size_t active() const { return active_; }
  /// The number of requests that may be active.
  std::size_t at_once() const;

 private:
  using Unit = AdaptiveLimitOptions::Unit;

  void obey(const RequestOutcome& outcome, Timestamp now);
  void spread(const RateLimit& stated, Timestamp now);
  void answered(const RequestOutcome& outcome, Timestamp now);
  void overloaded(double least, Timestamp now);
  void back_off(std::chrono::seconds first, std::chrono::seconds longest, Timestamp now);
  void wait(std::chrono::seconds duration, Timestamp now);
  void set_limit(double limit, Timestamp now);
  Timestamp next_spread() const { return std::min(spread_until_, last_start_ + spacing_); }
  bool is_per_second() const { return options_.unit == Unit::PerSecond; }

  const AdaptiveLimitOptions options_;
  double limit_;
  /// Used only by a limit of requests a second.
  RequestBudget budget_;
  std::size_t active_ = 0;
  Timestamp last_start_;
  Timestamp last_finish_;
  Timestamp not_before_;
  /// The number of doublings of the wait. Each answer subtracts one.
  int doublings_ = 0;
  /// Whether the last outcome that concerns the server was End::Failed.
  bool failed_last_ = false;
  /// The time of the last halving, or the epoch if the limit was never halved.
  Timestamp shrunk_at_;
  /// The time at which the limit last held a request back.
  Timestamp used_up_at_;
  /// Until this time requests are spread, with `spacing_` between their starts.
  Timestamp spread_until_;
  std::chrono::microseconds spacing_{0};
};

}  // namespace skua::transport
