#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/metric.hpp"

namespace skua::pages {

/// Finds collections whose events stopped while those of others continue: none for 10 minutes,
/// after an hour in which each 10 minutes had some. Bounded: an hour and ten minutes of counts, one
/// a minute, for each collection. One thread.
class QuietCollections {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::minutes kQuiet{10};
  /// So many quiet times make the hour before.
  static constexpr std::size_t kWindows = 6;
  /// Events of each window that make a steady rate: a random one with this mean has none with a
  /// probability of less than 1 in 10^8.
  static constexpr std::uint64_t kSteady = 20;

  /// The counts since the start, which only grow. A count that fell belongs to another run: the
  /// history begins again. Call it at least once a minute.
  void add(const CountsByLabel& counts, TimePoint now);

  /// The quiet collections, by name.
  std::vector<std::string> quiet() const;

 private:
  static constexpr std::size_t kMinutes = static_cast<std::size_t>(kQuiet.count()) * (kWindows + 1);

  struct Collection {
    /// The count at the latest `add`.
    std::uint64_t total = 0;
    /// Events of each minute, in a ring.
    std::array<std::uint64_t, kMinutes> minutes{};
  };

  void advance(TimePoint now);
  void restart(TimePoint now);
  /// The events of a window of `kQuiet`; 0: the latest.
  std::uint64_t events(const Collection& collection, std::size_t window) const;

  std::map<std::string, Collection> collections_;
  TimePoint minute_began_at_{};
  /// The current minute in the ring.
  std::size_t current_ = 0;
  /// Minutes since the start, up to `kMinutes`.
  std::size_t known_ = 0;
};

}  // namespace skua::pages
