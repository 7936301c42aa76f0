#pragma once

#include <algorithm>

#include "base/time.hpp"

namespace skua::identity {

/// Allows a number of requests a second, and after a quiet time as many at once. No clock of its
/// own; one thread.
class RequestBudget {
 public:
  explicit RequestBudget(double per_second) : per_second_(per_second), left_(burst()) {}

  double per_second() const { return per_second_; }

  /// Changes the number of requests a second from now on.
  void set_rate(double per_second, Timestamp now) {
    refill(now);
    per_second_ = per_second;
    left_ = std::min(left_, burst());
  }

  /// Whether a request may be made now; if so it counts.
  bool take(Timestamp now) {
    refill(now);
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  double burst() const { return std::max(1.0, per_second_); }

  void refill(Timestamp now) {
    const std::chrono::duration<double> passed = now - last_;
    // A clock that was set back gives nothing, and takes nothing.
    left_ = std::min(burst(), left_ + std::max(0.0, passed.count()) * per_second_);
    last_ = now;
  }

  double per_second_;
  double left_;
  Timestamp last_;
};

}  // namespace skua::identity
