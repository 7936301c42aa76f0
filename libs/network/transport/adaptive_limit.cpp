#include "transport/adaptive_limit.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

namespace skua::transport {
namespace {

using End = RequestOutcome::End;
using Unit = AdaptiveLimitOptions::Unit;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// The constants of a unit that are not options.
struct Tuning {
  /// After the first halving, the limit grows by this number after as many fast answers as the
  /// limit.
  double careful_growth;
  /// An answer is fast if it starts within this time.
  milliseconds fast;
  /// An answer that takes this long is a sign of overload.
  milliseconds slow;
};
constexpr Tuning kAtOnce{1, milliseconds(2'000), std::chrono::hours(24 * 365)};
constexpr Tuning kPerSecond{10, milliseconds(500), milliseconds(2'000)};

/// The bytes of a fast answer arrive at this speed.
constexpr double kFastBytesPerSecond = 512.0 * 1024;
/// A limit of requests a second allows as many active requests as it allows starts in this time.
constexpr double kActiveSeconds = 0.25;
/// `kDefaultWait` is the wait after a 429 without a stated time, for a limit of requests a second.
/// `kShortestWait` is its shortest wait.
constexpr seconds kDefaultWait{10};
constexpr seconds kShortestWait{1};

constexpr seconds kFirstLimitedWait{5};
constexpr seconds kLongestLimitedWait = std::chrono::minutes(5);
constexpr seconds kFirstFailureWait{2};
constexpr seconds kLongestFailureWait = std::chrono::minutes(10);
/// The value is twice the number of doublings that lead to the longest wait.
constexpr int kMostDoublings = 18;

/// The assumed limit if a server states only the remaining requests.
constexpr std::int64_t kAssumedLimit = 1000;

const Tuning& tuning_of(Unit unit) {
  return unit == Unit::PerSecond ? kPerSecond : kAtOnce;
}

AdaptiveLimitOptions consistent(AdaptiveLimitOptions options) {
  if (options.unit == Unit::AtOnce) {
    options.at_most = std::max(1.0, options.at_most);
    options.active_at_most = static_cast<std::size_t>(options.at_most);
  }
  options.active_at_most = std::max<std::size_t>(1, options.active_at_most);
  options.at_least = std::min(options.at_least, options.at_most);
  options.at_first = std::clamp(options.at_first, options.at_least, options.at_most);
  return options;
}

}  // namespace

AdaptiveLimit::AdaptiveLimit(const AdaptiveLimitOptions& options)
    : options_(consistent(options)), limit_(options_.at_first), budget_(limit_) {}

std::size_t AdaptiveLimit::at_once() const {
  if (doublings_ > 0) return 1;
  const double wanted = is_per_second() ? std::ceil(limit_ * kActiveSeconds) : limit_;
  return std::clamp<std::size_t>(static_cast<std::size_t>(wanted), 1, options_.active_at_most);
}

bool AdaptiveLimit::start(Timestamp now) {
  // A clock that was set back must not make a wait longer.
  not_before_ = std::min(not_before_, now + options_.longest_wait);
  if (free(now) == 0) {
    if (now >= not_before_ && now >= next_spread()) used_up_at_ = now;
    return false;
  }
  started(now);
  return true;
}

std::size_t AdaptiveLimit::free(Timestamp now) const {
  if (now < not_before_ || now < next_spread() || active_ >= at_once()) return 0;
  std::size_t most = now < spread_until_ ? 1 : at_once() - active_;
  if (is_per_second()) most = std::min(most, static_cast<std::size_t>(budget_.left(now)));
  return most;
}

std::optional<Timestamp> AdaptiveLimit::next_start(Timestamp now) const {
  if (active_ >= at_once()) return std::nullopt;
  const Timestamp next = std::max(not_before_, next_spread());
  if (next <= now) return std::nullopt;
  return next;
}

std::optional<Timestamp> AdaptiveLimit::idle_since() const {
  if (active_ > 0) return std::nullopt;
  return std::max({last_finish_, not_before_, spread_until_});
}

void AdaptiveLimit::started(Timestamp now) {
  ++active_;
  last_start_ = now;
  if (is_per_second()) {
    budget_.take(now);
  } else if (active_ >= at_once()) {
    used_up_at_ = now;
  }
}

void AdaptiveLimit::finished(const RequestOutcome& outcome, Timestamp now) {
  if (active_ == 0) throw std::logic_error("a request finished that was not started");
  --active_;
  last_finish_ = now;
  obey(outcome, now);
  // All requests that were active when the limit was halved met the same load, so only one of them
  // halves the limit.
  shrunk_at_ = std::min(shrunk_at_, now);
  if (outcome.end == End::Ours || outcome.started_at < shrunk_at_) return;
  const bool failed_before = std::exchange(failed_last_, outcome.end == End::Failed);
  switch (outcome.end) {
    case End::Answered:
      return answered(outcome, now);
    case End::Limited:
      overloaded(options_.at_least, now);
      return back_off(kFirstLimitedWait, kLongestLimitedWait, now);
    case End::Failed:
      // One failure may concern only its subject. A second failure in a row concerns the server.
      if (failed_before || !is_per_second()) overloaded(options_.at_least, now);
      if (!failed_before) return;
      return back_off(kFirstFailureWait, kLongestFailureWait, now);
    case End::Unreachable:
      overloaded(options_.at_least, now);
      return back_off(kFirstFailureWait, kLongestFailureWait, now);
    case End::Ours:
      return;
  }
}

/// Applies the limits and waits that the server states. They count in any case.
void AdaptiveLimit::obey(const RequestOutcome& outcome, Timestamp now) {
  if (is_per_second() && outcome.end == End::Limited) {
    wait(std::max(kShortestWait, outcome.asked_wait.value_or(kDefaultWait)), now);
  } else if (outcome.asked_wait) {
    wait(*outcome.asked_wait, now);
  }
  if (outcome.rate_limit) spread(*outcome.rate_limit, now);
}

void AdaptiveLimit::spread(const RateLimit& stated, Timestamp now) {
  // The number in the answer may not include the active requests.
  const auto left =
      std::max<std::int64_t>(0, stated.remaining - static_cast<std::int64_t>(active_));
  const auto few = std::max<std::int64_t>(stated.limit.value_or(kAssumedLimit) / 10,
                                          static_cast<std::int64_t>(2 * options_.active_at_most));
  const seconds window = std::min(stated.until_reset, options_.longest_wait);
  spread_until_ = left < few ? now + window : now;
  spacing_ = std::chrono::microseconds(window) / (left + 1);
}

void AdaptiveLimit::answered(const RequestOutcome& outcome, Timestamp now) {
  if (doublings_ > 0) {
    --doublings_;
    return;
  }
  const Tuning& tuning = tuning_of(options_.unit);
  if (outcome.duration >= tuning.slow) return overloaded(std::min(limit_, options_.at_first), now);
  const std::chrono::duration<double> fast =
      tuning.fast +
      std::chrono::duration<double>(static_cast<double>(outcome.bytes) / kFastBytesPerSecond);
  // A success below the limit shows nothing about a higher limit.
  if (outcome.duration > fast || used_up_at_ < outcome.started_at) return;
  const double step = shrunk_at_ == Timestamp() ? 1 : tuning.careful_growth / limit_;
  set_limit(std::min(options_.at_most, limit_ + step), now);
}

void AdaptiveLimit::overloaded(double least, Timestamp now) {
  shrunk_at_ = now;
  set_limit(std::max(least, limit_ / 2), now);
}

void AdaptiveLimit::back_off(seconds first, seconds longest, Timestamp now) {
  if (is_per_second()) return;
  wait(std::min(longest, first * (1 << doublings_)), now);
  doublings_ = std::min(doublings_ + 1, kMostDoublings);
}

void AdaptiveLimit::wait(seconds duration, Timestamp now) {
  not_before_ = std::max(not_before_, now + std::min(duration, options_.longest_wait));
}

void AdaptiveLimit::set_limit(double limit, Timestamp now) {
  limit_ = limit;
  budget_.set_rate(limit, now);
}

}  // namespace skua::transport
