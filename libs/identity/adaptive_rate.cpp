#include "identity/adaptive_rate.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace skua::identity {
namespace {

using End = RequestOutcome::End;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kQuickAnswer{500};
constexpr milliseconds kSlowAnswer{2'000};
/// So much of the rate's requests may be under way.
constexpr double kUnderWaySeconds = 0.25;
/// By how many requests a second the rate grows each second, once it was halved.
constexpr double kCarefulGrowth = 10;
/// What a 429 means that does not state a wait, and the least that it means.
constexpr seconds kDefaultWait{10};
constexpr seconds kShortestWait{1};

AdaptiveRateOptions consistent(AdaptiveRateOptions options) {
  options.at_least = std::min(options.at_least, options.at_most);
  options.at_first = std::clamp(options.at_first, options.at_least, options.at_most);
  options.under_way_at_most = std::max<std::size_t>(1, options.under_way_at_most);
  return options;
}

}  // namespace

AdaptiveRate::AdaptiveRate(const AdaptiveRateOptions& options)
    : options_(consistent(options)), budget_(options_.at_first) {}

std::size_t AdaptiveRate::at_once() const {
  const auto wanted = static_cast<std::size_t>(std::ceil(per_second() * kUnderWaySeconds));
  return std::clamp<std::size_t>(wanted, 1, options_.under_way_at_most);
}

bool AdaptiveRate::start(Timestamp now) {
  // A clock that was set back must not make a wait longer.
  not_before_ = std::min(not_before_, now + options_.longest_wait);
  if (now < not_before_ || now < spacing_.next_start(last_start_)) return false;
  if (under_way_ >= at_once() || !budget_.take(now)) {
    held_back_at_ = now;
    return false;
  }
  ++under_way_;
  last_start_ = now;
  return true;
}

void AdaptiveRate::finished(const RequestOutcome& outcome, Timestamp now) {
  if (under_way_ == 0) throw std::logic_error("a request finished that was not started");
  --under_way_;
  obey(outcome, now);
  // All requests that were under way when the rate was halved met the same load.
  shrunk_at_ = std::min(shrunk_at_, now);
  if (outcome.end == End::Ours || outcome.started_at < shrunk_at_) return;
  const bool failed_before = failed_last_;
  failed_last_ = outcome.end == End::Failed;
  switch (outcome.end) {
    case End::Limited:
      shrink(options_.at_least, now);
      break;
    case End::Failed:
      // One failure may be about one document.
      if (failed_before) shrink(options_.at_least, now);
      break;
    case End::Answered:
      if (outcome.duration <= kQuickAnswer) {
        grow(outcome, now);
      } else if (outcome.duration >= kSlowAnswer) {
        shrink(std::min(per_second(), options_.at_first), now);
      }
      break;
    case End::Ours:
      break;
  }
}

/// What the server states counts whenever it states it.
void AdaptiveRate::obey(const RequestOutcome& outcome, Timestamp now) {
  if (outcome.end == End::Limited) {
    wait(std::max(kShortestWait, outcome.asked_wait.value_or(kDefaultWait)), now);
  } else if (outcome.asked_wait) {
    wait(*outcome.asked_wait, now);
  }
  if (outcome.rate_limit) {
    spacing_.state(*outcome.rate_limit, under_way_, 2 * options_.under_way_at_most,
                   options_.longest_wait, now);
  }
}

void AdaptiveRate::grow(const RequestOutcome& outcome, Timestamp now) {
  // A rate that is not used up proves nothing about a higher one.
  if (held_back_at_ < outcome.started_at) return;
  const double step = shrunk_at_ == Timestamp() ? 1 : kCarefulGrowth / per_second();
  budget_.set_rate(std::min(options_.at_most, per_second() + step), now);
}

void AdaptiveRate::shrink(double least, Timestamp now) {
  shrunk_at_ = now;
  budget_.set_rate(std::max(least, per_second() / 2), now);
}

void AdaptiveRate::wait(seconds duration, Timestamp now) {
  not_before_ = std::max(not_before_, now + std::min(duration, options_.longest_wait));
}

}  // namespace skua::identity
