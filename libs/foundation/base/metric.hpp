#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/pfr/core.hpp>

#include "base/time.hpp"

namespace skua {

/// A histogram of durations, with buckets from 1 us to an hour. Each bucket is at most a quarter
/// larger than the previous one. Adding a duration is one atomic increment. Any thread.
class LatencyHistogram {
 public:
  using Duration = std::chrono::microseconds;

  /// Each power of two has four buckets.
  static constexpr std::size_t kBuckets = 128;
  using Counts = std::array<std::uint64_t, kBuckets>;

  /// A negative duration, after a clock was set back, counts as zero.
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

  /// Returns the upper bound of the bucket that contains the quantile `quantile` (0 to 1), or zero
  /// if nothing was counted.
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

  /// Returns the largest duration of a bucket. The last bucket also contains all longer durations.
  static Duration upper_bound(std::size_t bucket) {
    if (bucket < 4) return Duration(bucket);
    const std::size_t exponent = bucket / 4 + 1;
    const std::uint64_t quarter = bucket % 4;
    const std::uint64_t step = std::uint64_t{1} << (exponent - 2);
    return Duration(static_cast<Duration::rep>((4 + quarter + 1) * step - 1));
  }

  /// Returns the counts that were added between two moments.
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

enum class MetricKind : std::uint8_t { Counter, Gauge, Histogram };

/// Returns the name of the kind in Prometheus.
constexpr const char* name_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::Counter:
      return "counter";
    case MetricKind::Gauge:
      return "gauge";
    case MetricKind::Histogram:
      return "histogram";
  }
  return "untyped";
}

/// The declaration of a metric. The metric in JSON, in Prometheus and in `skua help metrics`
/// follows from the declaration.
struct MetricInfo {
  /// The key in JSON, or an empty text if JSON does not have the metric. A histogram has two keys,
  /// `<key>_p50` and `<key>_p99`, in milliseconds.
  const char* key = "";
  /// The name in Prometheus: `skua_..._total` for a counter, and base units (`_seconds`, `_bytes`).
  const char* name = "";
  const char* unit = "";
  /// One sentence, without a full stop.
  const char* help = "";
  /// The name of the label by which a CountFamily counts, or whose value is the text of the metric.
  /// Empty if there is no label.
  const char* label = "";
};

/// A count for each value of a label.
using CountsByLabel = std::vector<std::pair<std::string, std::uint64_t>>;

/// The value of a metric at one time.
struct MetricValue {
  using Value = std::variant<std::uint64_t, std::int64_t, double, bool, Timestamp, std::string,
                             CountsByLabel, LatencyHistogram::Counts>;

  MetricInfo info;
  MetricKind kind = MetricKind::Gauge;
  Value value;
};

/// An integer that any thread may change with one relaxed atomic operation. A copy has the value of
/// the moment.
class Count {
 public:
  Count() = default;
  ~Count() = default;
  Count(const Count& other) : value_(static_cast<std::uint64_t>(other)) {}
  Count& operator=(const Count& other) { return *this = static_cast<std::uint64_t>(other); }
  Count& operator=(std::uint64_t value) {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  // NOLINTNEXTLINE(google-explicit-constructor): a Count reads as an integer, like std::atomic.
  operator std::uint64_t() const { return value_.load(std::memory_order_relaxed); }

  Count& operator+=(std::uint64_t count) {
    value_.fetch_add(count, std::memory_order_relaxed);
    return *this;
  }
  Count& operator-=(std::uint64_t count) {
    value_.fetch_sub(count, std::memory_order_relaxed);
    return *this;
  }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// A count with its declaration. It is a member of a struct of metrics and is declared in that
/// struct. Assignment changes the count and keeps the declaration. Any thread.
template <MetricKind Kind>
class DeclaredCount {
 public:
  /// The arguments are those of MetricInfo and must be literals.
  constexpr DeclaredCount(const char* key, const char* name, const char* unit, const char* help)
      : info_{key, name, unit, help, ""} {}
  ~DeclaredCount() = default;
  DeclaredCount(const DeclaredCount&) = default;
  DeclaredCount& operator=(const DeclaredCount& other) { return *this = other.value(); }
  DeclaredCount& operator=(std::uint64_t value) {
    count_ = value;
    return *this;
  }
  // NOLINTNEXTLINE(google-explicit-constructor): the count reads as an integer, like std::atomic.
  operator std::uint64_t() const { return value(); }
  std::uint64_t value() const { return count_; }

  DeclaredCount& operator+=(std::uint64_t count) {
    count_ += count;
    return *this;
  }
  DeclaredCount& operator-=(std::uint64_t count) requires(Kind == MetricKind::Gauge) {
    count_ -= count;
    return *this;
  }

  MetricValue read() const { return {info_, Kind, value()}; }

 private:
  MetricInfo info_;
  Count count_;
};

/// A number that only grows.
using Counter = DeclaredCount<MetricKind::Counter>;
/// The number of something at this moment.
using Gauge = DeclaredCount<MetricKind::Gauge>;

/// A count for each of `Size` values of a label. Any thread.
template <MetricKind Kind, std::size_t Size>
class CountFamily {
 public:
  using NameOf = const char* (*)(std::size_t index);

  /// `name_of` returns the label value of each index.
  CountFamily(const char* key, const char* name, const char* unit, const char* help,
              const char* label, NameOf name_of)
      : info_{key, name, unit, help, label}, name_of_(name_of) {}

  Count& at(std::size_t index) { return counts_.at(index); }
  const Count& at(std::size_t index) const { return counts_.at(index); }
  const Count& operator[](std::size_t index) const { return counts_[index]; }
  auto begin() const { return counts_.begin(); }
  auto end() const { return counts_.end(); }

  MetricValue read() const {
    CountsByLabel all;
    for (std::size_t i = 0; i < Size; ++i) all.emplace_back(name_of_(i), counts_[i]);
    return {info_, Kind, std::move(all)};
  }

 private:
  MetricInfo info_;
  NameOf name_of_;
  std::array<Count, Size> counts_{};
};

template <std::size_t Size>
using CounterFamily = CountFamily<MetricKind::Counter, Size>;
template <std::size_t Size>
using GaugeFamily = CountFamily<MetricKind::Gauge, Size>;

/// A declared histogram of durations. Any thread.
class Histogram {
 public:
  /// The arguments are those of MetricInfo and must be literals. The unit is seconds.
  constexpr Histogram(const char* key, const char* name, const char* help)
      : info_{key, name, "seconds", help, ""} {}

  void add(LatencyHistogram::Duration duration) { latency_.add(duration); }
  LatencyHistogram::Counts counts() const { return latency_.counts(); }
  MetricValue read() const { return {info_, MetricKind::Histogram, counts()}; }

 private:
  MetricInfo info_;
  LatencyHistogram latency_;
};

/// Reads the metrics of a struct in the order of their declarations. The struct is an aggregate
/// without constructors and base classes. The members that are a Counter, Gauge, CountFamily or
/// Histogram are metrics; other members are ignored.
template <class Group>
std::vector<MetricValue> values_of(const Group& group) {
  std::vector<MetricValue> values;
  boost::pfr::for_each_field(group, [&values](const auto& field) {
    if constexpr (requires {
                    { field.read() } -> std::same_as<MetricValue>;
                  }) {
      values.push_back(field.read());
    }
  });
  return values;
}

}  // namespace skua
