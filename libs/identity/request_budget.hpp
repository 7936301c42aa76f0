#pragma once

#include <algorithm>

#include "base/time.hpp"

namespace skua::identity {

/// Allows so many requests a second, and after a quiet time so many at once. No clock of its own;
/// one thread.
class RequestBudget {
 public:
  RequestBudget(double per_second, double at_once)
      : per_second_(per_second), at_once_(at_once), left_(at_once) {}

  /// Whether a request may be made now; if so it counts.
  bool take(Timestamp now) {
    const std::chrono::duration<double> passed = now - last_;
    // A clock that was set back gives nothing, and takes nothing.
    left_ = std::min(at_once_, left_ + std::max(0.0, passed.count()) * per_second_);
    last_ = now;
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  const double per_second_;
  const double at_once_;
  double left_;
  Timestamp last_;
};

}  // namespace skua::identity
