#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/time.hpp"

namespace skua::backfill {

/// A rate per second for displays: an event that happened a minute ago has a third of the weight of
/// a new one. No clock of its own; one thread.
class DecayingRate {
 public:
  void add(double count, Timestamp now) {
    rate_ = per_second(now) + count / kMemory.count();
    at_ = std::max(at_, now);
  }

  double per_second(Timestamp now) const {
    // A clock that is set back has no effect.
    const std::chrono::duration<double> passed = std::max(now, at_) - at_;
    return rate_ * std::exp(-passed / kMemory);
  }

 private:
  static constexpr std::chrono::duration<double> kMemory{60};

  double rate_ = 0;
  Timestamp at_;
};

}  // namespace skua::backfill
