#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace skua::writer {

/// The number of backfill events in a transaction: as many as take half a second, judged by earlier
/// transactions. A row costs less in a larger transaction, but live events wait for its accounts.
/// Each worker has one, on its thread.
class BatchSize {
 public:
  static constexpr std::size_t kFirst = 2'500;
  static constexpr std::size_t kSmallest = 250;
  static constexpr std::size_t kLargest = 10'000;
  /// A longer transaction is too large. The limit is well below half a second, because the next one
  /// may be slower.
  static constexpr std::chrono::milliseconds kTooLong{350};
  /// A shorter transaction could be larger.
  static constexpr std::chrono::milliseconds kShort{200};

  std::size_t get() const { return size_; }

  /// Reports the duration of a transaction. A short duration of a transaction that was not full has
  /// no effect.
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
