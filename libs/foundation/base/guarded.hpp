#pragma once

#include <mutex>
#include <utility>

namespace skua {

/// Holds a value that several threads share and gives access only under the lock, so that code
/// without the lock cannot compile. Do not let a reference to the value escape from the function
/// that is passed in.
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
