#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/time.hpp"

namespace skua::backfill {

/// How many a second lately: what happened a minute ago counts a third of what happens now. For
/// displays. No clock of its own; one thread.
class DecayingRate {
 public:
  void add(double count, Timestamp now) {
    rate_ = per_second(now) + count / kMemory.count();
    at_ = std::max(at_, now);
  }

  double per_second(Timestamp now) const {
    // A clock that was set back changes nothing.
    const std::chrono::duration<double> passed = std::max(now, at_) - at_;
    return rate_ * std::exp(-passed / kMemory);
  }

 private:
  static constexpr std::chrono::duration<double> kMemory{60};

  double rate_ = 0;
  Timestamp at_;
};

}  // namespace skua::backfill
