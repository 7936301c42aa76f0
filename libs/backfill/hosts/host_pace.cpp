#include "backfill/hosts/host_pace.hpp"

#include <algorithm>
#include <stdexcept>

namespace skua::backfill {
namespace {

using End = HostOutcome::End;
using std::chrono::seconds;

constexpr auto kFirstLimitedWait = seconds(5);
constexpr auto kLongestLimitedWait = std::chrono::minutes(5);
constexpr auto kFirstFailureWait = seconds(2);
constexpr auto kLongestFailureWait = std::chrono::minutes(10);
/// Twice the doublings up to the longest wait.
constexpr int kMostSteps = 18;

/// A download counts as fast if it starts within this time, and its bytes arrive at this speed.
constexpr auto kFastStart = seconds(2);
constexpr double kFastBytesPerSecond = 512.0 * 1024;

bool is_fast(const HostOutcome& outcome) {
  const std::chrono::duration<double> fast =
      kFastStart +
      std::chrono::duration<double>(static_cast<double>(outcome.bytes) / kFastBytesPerSecond);
  return outcome.duration <= fast;
}

}  // namespace

HostPace::HostPace(const HostPaceOptions& options)
    : options_(options),
      at_once_(static_cast<double>(std::clamp<std::size_t>(
          options.at_first, 1, std::max<std::size_t>(1, options.at_most)))) {}

std::size_t HostPace::at_once() const {
  return steps_ > 0 ? 1 : static_cast<std::size_t>(at_once_);
}

std::size_t HostPace::free(Timestamp now) const {
  if (now < not_before_ || under_way_ >= at_once()) return 0;
  if (now >= spacing_.until()) return at_once() - under_way_;
  return now < spacing_.next_start(last_start_) ? 0 : 1;
}

std::optional<Timestamp> HostPace::next_start(Timestamp now) const {
  if (under_way_ >= at_once()) return std::nullopt;
  const auto next = std::max(not_before_, spacing_.next_start(last_start_));
  if (next <= now) return std::nullopt;
  return next;
}

std::optional<Timestamp> HostPace::idle_since() const {
  if (under_way_ > 0) return std::nullopt;
  return std::max({last_finish_, not_before_, spacing_.until()});
}

void HostPace::started(Timestamp now) {
  if (++under_way_ >= at_once()) used_up_at_ = now;
  last_start_ = now;
}

void HostPace::finished(const HostOutcome& outcome, Timestamp now) {
  if (under_way_ == 0) throw std::logic_error("a download finished that was not started");
  --under_way_;
  last_finish_ = now;
  count(outcome, now);
  obey(outcome, now);
  // Downloads that were active at the overload all report the same problem.
  if (outcome.started_at < shrunk_at_ || outcome.end == End::Ours) return;
  if (outcome.end == End::Answered) {
    grow(outcome);
  } else {
    shrink(outcome.end, now);
  }
}

void HostPace::count(const HostOutcome& outcome, Timestamp now) {
  bytes_ += outcome.bytes;
  if (outcome.repository) {
    ++repositories_;
    rate_.add(1, now);
  }
  if (outcome.error.empty()) return;
  ++failures_;
  last_error_ = outcome.error;
}

/// Limits that the host states always count.
void HostPace::obey(const HostOutcome& outcome, Timestamp now) {
  if (outcome.asked_wait) wait(*outcome.asked_wait, now);
  if (!outcome.rate_limit) return;
  spacing_.state(*outcome.rate_limit, under_way_, 2 * options_.at_most, options_.longest_wait, now);
}

void HostPace::grow(const HostOutcome& outcome) {
  failed_last_ = false;
  if (steps_ > 0) {
    --steps_;
    return;
  }
  // A success below the limit says nothing about a higher limit.
  if (used_up_at_ < outcome.started_at || !is_fast(outcome)) return;
  const double step = shrunk_at_ == Timestamp() ? 1 : 1 / at_once_;
  at_once_ = std::min(static_cast<double>(options_.at_most), at_once_ + step);
}

void HostPace::shrink(End end, Timestamp now) {
  shrunk_at_ = now;
  at_once_ = std::max(1.0, at_once_ / 2);
  // One error may concern one repository; a second one in a row concerns the host.
  const bool wait_for_it = end != End::Failed || failed_last_;
  failed_last_ = end == End::Failed;
  if (!wait_for_it) return;
  if (end == End::Limited) {
    back_off(kFirstLimitedWait, kLongestLimitedWait, now);
  } else {
    back_off(kFirstFailureWait, kLongestFailureWait, now);
  }
}

void HostPace::back_off(seconds first, seconds longest, Timestamp now) {
  wait(std::min(longest, first * (1 << steps_)), now);
  steps_ = std::min(steps_ + 1, kMostSteps);
}

void HostPace::wait(seconds duration, Timestamp now) {
  not_before_ = std::max(not_before_, now + std::min(duration, options_.longest_wait));
}

}  // namespace skua::backfill
