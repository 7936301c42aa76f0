#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/latency_histogram.hpp"
#include "base/time.hpp"

namespace skua {

enum class MetricKind : std::uint8_t { Counter, Gauge, Histogram };

/// Its name in Prometheus.
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

/// The declaration of a metric. JSON, Prometheus and `skua help metrics` follow from it.
struct MetricInfo {
  /// The key in JSON; empty: the metric is not in JSON. A histogram has two keys, `<key>_p50` and
  /// `<key>_p99`, in milliseconds.
  const char* key = "";
  /// The name in Prometheus: `skua_..._total` for a counter, and base units (`_seconds`, `_bytes`).
  const char* name = "";
  const char* unit = "";
  /// One sentence, without a full stop.
  const char* help = "";
  /// The name of the label by which a CountFamily counts, or of which a text is the value; empty:
  /// there is none.
  const char* label = "";
};

/// A count for each value of a label.
using CountsByLabel = std::vector<std::pair<std::string, std::uint64_t>>;

/// A metric at one time.
struct MetricValue {
  using Value = std::variant<std::uint64_t, std::int64_t, double, bool, Timestamp, std::string,
                             CountsByLabel, LatencyHistogram::Counts>;

  MetricInfo info;
  MetricKind kind = MetricKind::Gauge;
  Value value;
};

/// An integer that any thread may change: one relaxed atomic operation. A copy has the value of the
/// moment.
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
  // NOLINTNEXTLINE(google-explicit-constructor): it reads as an integer, like std::atomic.
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

/// A declared count. It is a member of a struct of metrics (metric_group.hpp) and declared where
/// that struct names it. Assigning changes the count and not the declaration. Any thread.
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
  // NOLINTNEXTLINE(google-explicit-constructor): it reads as an integer, like std::atomic.
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

/// Only grows.
using Counter = DeclaredCount<MetricKind::Counter>;
/// The number of something at this moment.
using Gauge = DeclaredCount<MetricKind::Gauge>;

/// A count for each of `Size` values of a label. Any thread.
template <MetricKind Kind, std::size_t Size>
class CountFamily {
 public:
  using NameOf = const char* (*)(std::size_t index);

  /// `name_of`: the label value of each index.
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

}  // namespace skua
