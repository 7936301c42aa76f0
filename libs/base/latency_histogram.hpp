#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace skua {

/// How long things took: counts by duration, in buckets that grow by a quarter or less, from 1 us
/// to an hour. Adding is one atomic increment. Any thread.
class LatencyHistogram {
 public:
  using Duration = std::chrono::microseconds;

  /// Four buckets a power of two.
  static constexpr std::size_t kBuckets = 128;
  using Counts = std::array<std::uint64_t, kBuckets>;

  /// A negative duration (a clock was set back) counts as none.
  void add(Duration duration) {
    buckets_[bucket_of(duration)].fetch_add(1, std::memory_order_relaxed);
  }

  Counts counts() const {
    Counts counts{};
    for (std::size_t i = 0; i < kBuckets; ++i) {
      counts[i] = buckets_[i].load(std::memory_order_relaxed);
    }
    return counts;
  }

  /// The upper bound of the bucket that contains the quantile `quantile` (0 to 1); zero if nothing
  /// was counted.
  static Duration quantile(const Counts& counts, double quantile) {
    std::uint64_t all = 0;
    for (const std::uint64_t count : counts) all += count;
    if (all == 0) return Duration::zero();
    const double wanted = quantile * static_cast<double>(all);
    std::uint64_t reached = 0;
    std::size_t last = 0;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      if (counts[i] == 0) continue;
      last = i;
      reached += counts[i];
      if (static_cast<double>(reached) >= wanted) break;
    }
    return upper_bound(last);
  }

  /// The largest duration of a bucket. The last bucket also has all that took longer.
  static Duration upper_bound(std::size_t bucket) {
    if (bucket < 4) return Duration(bucket);
    const std::size_t exponent = bucket / 4 + 1;
    const std::uint64_t quarter = bucket % 4;
    const std::uint64_t step = std::uint64_t{1} << (exponent - 2);
    return Duration(static_cast<Duration::rep>((4 + quarter + 1) * step - 1));
  }

  /// The counts between two moments.
  static Counts between(const Counts& before, const Counts& now) {
    Counts difference{};
    for (std::size_t i = 0; i < kBuckets; ++i) difference[i] = now[i] - before[i];
    return difference;
  }

 private:
  static std::size_t bucket_of(Duration duration) {
    const auto value = static_cast<std::uint64_t>(duration.count() < 0 ? 0 : duration.count());
    if (value < 4) return static_cast<std::size_t>(value);
    const auto exponent = static_cast<std::size_t>(std::bit_width(value)) - 1;
    const std::size_t quarter = (value >> (exponent - 2)) & 3;
    const std::size_t bucket = (exponent - 1) * 4 + quarter;
    return bucket < kBuckets ? bucket : kBuckets - 1;
  }

  std::array<std::atomic<std::uint64_t>, kBuckets> buckets_{};
};

}  // namespace skua
