#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace skua::writer {

/// How many events of history go into a transaction: as many as it can hold within half a second,
/// learnt from those before it. Larger ones cost less a row, and live events wait for the accounts
/// that they hold. One a worker, on its thread.
class BatchSize {
 public:
  static constexpr std::size_t kFirst = 2'500;
  static constexpr std::size_t kSmallest = 250;
  static constexpr std::size_t kLargest = 10'000;
  /// Longer than this: too large. Well below the half second, since the next one may be slower.
  static constexpr std::chrono::milliseconds kTooLong{350};
  /// Shorter than this: could be larger.
  static constexpr std::chrono::milliseconds kShort{200};

  std::size_t get() const { return size_; }

  /// A transaction of so many events took so long. That a small one was short says nothing of a
  /// large one.
  void took(std::size_t events, std::chrono::microseconds time) {
    if (time > kTooLong) {
      size_ = std::max(size_ / 2, kSmallest);
    } else if (time < kShort && events >= size_) {
      size_ = std::min(size_ + size_ / 4, kLargest);
    }
  }

 private:
  std::size_t size_ = kFirst;
};

}  // namespace skua::writer
