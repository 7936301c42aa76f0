#pragma once

#include <mutex>
#include <utility>

namespace skua {

/// Holds a value that several threads share and gives it out only under its lock, so that unlocked
/// access cannot be written. Do not let a reference to the value escape from the function passed
/// in.
template <class T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}

  template <class F>
  decltype(auto) with(F&& f) {
    const std::scoped_lock lock(mutex_);
    return std::forward<F>(f)(value_);
  }

  template <class F>
  decltype(auto) with(F&& f) const {
    const std::scoped_lock lock(mutex_);
    return std::forward<F>(f)(value_);
  }

 private:
  mutable std::mutex mutex_;
  T value_{};
};

}  // namespace skua
