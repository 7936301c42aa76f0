#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "identity/request_budget.hpp"
#include "transport/rate_limit.hpp"

namespace skua::identity {

struct AdaptiveRateOptions {
  /// Requests a second: the initial rate, and the limits of the adaptation.
  double at_first = 50;
  double at_least = 5;
  double at_most = 500;
  /// Requests under way, at most.
  std::size_t under_way_at_most = 64;
  /// The longest wait, even if the server asks for more.
  std::chrono::seconds longest_wait = std::chrono::minutes(5);
};

/// How a request ended, as far as it concerns the server's load.
struct RequestOutcome {
  enum class End : std::uint8_t {
    Answered,  // whatever the answer says about its subject
    Limited,   // 429
    Failed,    // 5xx, no answer, no connection
    Ours,      // the client refused or ended the request
  };
  End end = End::Answered;
  /// When AdaptiveRate::start allowed it.
  Timestamp started_at;
  std::chrono::microseconds duration{0};
  /// How long the server asks to wait.
  std::optional<std::chrono::seconds> asked_wait = std::nullopt;
  std::optional<transport::RateLimit> rate_limit = std::nullopt;
};

/// How often one server is asked, and how many requests may be under way.
///
/// The rate grows by one request a second with each quick answer until the first sign of load, and
/// from then on by ten a second each second; it grows only while requests have to wait for it. A
/// 429, two failures in a row and a slow answer halve it, a slow answer not below `at_first`. No
/// request starts before a wait that the server asked for is over; the last requests of a limit
/// that it states are spread (RateLimitSpacing). As many requests may be under way as the rate
/// brings in a quarter of a second: a server that takes longer gets fewer requests at once.
///
/// No clock of its own, no I/O; one thread.
class AdaptiveRate {
 public:
  explicit AdaptiveRate(const AdaptiveRateOptions& options);

  /// Whether a request that waits may start now; if so it counts as under way.
  bool start(Timestamp now);
  /// Once for each that was started; throws std::logic_error otherwise.
  void finished(const RequestOutcome& outcome, Timestamp now);

  double per_second() const { return budget_.per_second(); }
  std::size_t under_way() const { return under_way_; }
  /// How many may be under way.
  std::size_t at_once() const;

 private:
  void obey(const RequestOutcome& outcome, Timestamp now);
  void grow(const RequestOutcome& outcome, Timestamp now);
  void shrink(double least, Timestamp now);
  void wait(std::chrono::seconds duration, Timestamp now);

  const AdaptiveRateOptions options_;
  RequestBudget budget_;
  transport::RateLimitSpacing spacing_;
  std::size_t under_way_ = 0;
  Timestamp last_start_;
  Timestamp not_before_;
  /// When the rate, or the number under way, last held a request back.
  Timestamp held_back_at_;
  /// The epoch: not yet.
  Timestamp shrunk_at_;
  bool failed_last_ = false;
};

}  // namespace skua::identity
