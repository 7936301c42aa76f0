#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "transport/http_client.hpp"

namespace skua::transport {

/// Allows a number of requests a second, and after a quiet time as many at once. It has no clock of
/// its own; one thread uses it.
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

  /// Requests that may be made now.
  double left(Timestamp now) const {
    const std::chrono::duration<double> passed = now - last_;
    // A clock that was set back gives nothing, and takes nothing.
    return std::min(burst(), left_ + std::max(0.0, passed.count()) * per_second_);
  }

  /// Whether a request may be made now; if so it counts.
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

/// How a request ended, as far as it concerns the server.
struct RequestOutcome {
  enum class End : std::uint8_t {
    Answered,     // with what was requested, or with an error that concerns only its subject
    Limited,      // 429
    Failed,       // an error of the server: 5xx, a missing or incomplete answer
    Unreachable,  // no address, no connection, no TLS
    Ours,         // does not concern the server: a stop, a local limit, a full disk
  };
  End end = End::Answered;
  /// When AdaptiveLimit::started was called for it. The request may have begun later.
  Timestamp started_at{};
  /// The duration of the request.
  std::chrono::microseconds duration{0};
  std::uint64_t bytes = 0;
  /// How long the server asks to wait, with any status.
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
  /// Of a limit of requests a second: the active requests.
  std::size_t active_at_most = 64;
  /// The longest wait, even if the server asks for more.
  std::chrono::seconds longest_wait = std::chrono::hours(1);
};

/// For a host that any account may name.
inline AdaptiveLimitOptions requests_at_once() {
  return {};
}
/// For a server that answers many short requests.
inline AdaptiveLimitOptions requests_per_second() {
  return {.unit = AdaptiveLimitOptions::Unit::PerSecond,
          .at_first = 50,
          .at_least = 5,
          .at_most = 500,
          .longest_wait = std::chrono::minutes(5)};
}

/// The limit of requests to one server, and when the next one may start. It adapts to the answers:
///
/// - It grows by one with each fast answer until the first sign of overload; from then on by one
///   (requests at once), or ten (requests a second), after as many fast answers as the limit. It
///   grows only while it is used up.
/// - A sign of overload halves it, once for all requests that were active. Signs are a 429, a
/// failed
///   connection and a failure; for a limit of requests a second a second failure in a row, and an
///   answer after two seconds, which does not lower the limit below `at_first`.
/// - Waits that the server asks for are observed. A limit of requests at once backs off: without a
///   stated time the wait doubles from 5 s to 5 min (429) or from 2 s to 10 min (a second failure
///   in a row, or no connection), and after a wait one request is active at a time. A limit of
///   requests a second waits 10 s after a 429 that states no time.
/// - The last tenth of a limit that the server states is spread over the rest of its window.
///
/// As many requests may be active as a limit of requests a second brings in a quarter of a second:
/// a slower server gets fewer requests at once. No clock of its own, no I/O; one thread.
class AdaptiveLimit {
 public:
  explicit AdaptiveLimit(const AdaptiveLimitOptions& options);

  /// Whether a request that waits may start now; if so it counts as started.
  bool start(Timestamp now);

  /// How many requests may start now.
  std::size_t free(Timestamp now) const;
  void started(Timestamp now);
  /// Once for each started request; throws std::logic_error otherwise.
  void finished(const RequestOutcome& outcome, Timestamp now);

  /// When requests may start after a wait; nothing: they may start now, or one must finish first.
  std::optional<Timestamp> next_start(Timestamp now) const;
  /// Since when there has been no active request and no wait; later than `now` during a wait;
  /// nothing: a request is active.
  std::optional<Timestamp> idle_since() const;

  /// In its unit.
  double limit() const { return limit_; }
  std::size_t active() const { return active_; }
  /// How many may be active.
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
  /// Of a limit of requests a second.
  RequestBudget budget_;
  std::size_t active_ = 0;
  Timestamp last_start_;
  Timestamp last_finish_;
  Timestamp not_before_;
  /// How often the wait has doubled; each answer subtracts one.
  int doublings_ = 0;
  /// The last outcome that concerns the server was End::Failed.
  bool failed_last_ = false;
  /// The epoch: never.
  Timestamp shrunk_at_;
  /// When the limit last held a request back.
  Timestamp used_up_at_;
  /// Until then requests are spread, each so long after the last.
  Timestamp spread_until_;
  std::chrono::microseconds spacing_{0};
};

}  // namespace skua::transport
