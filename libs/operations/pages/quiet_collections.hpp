#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/metric.hpp"

namespace skua::pages {

/// Finds collections whose events stopped while those of others continue: none for a window of
/// time, after six windows that each had some. A collection stays quiet until its next event, and
/// for six windows at most: then its absence is the normal state. Bounded: seventy counts for each
/// collection. One thread.
class QuietCollections {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// The windows before the quiet one.
  static constexpr std::size_t kWindows = 6;
  /// Events of each window that make a steady rate: a random one with this mean has none with a
  /// probability of less than 1 in 10^8.
  static constexpr std::uint64_t kSteady = 20;

  /// `window`: from three seconds.
  explicit QuietCollections(std::chrono::seconds window = std::chrono::minutes(10))
      : window_(window) {}

  /// The counts since the start, which only grow. A count that fell belongs to another run: the
  /// history begins again, as after a window without a call. Call it every tenth of a window, or
  /// once a second.
  void add(const CountsByLabel& counts, TimePoint now);

  /// The quiet collections, by name.
  std::vector<std::string> quiet() const;

 private:
  /// The parts of a window that are counted together.
  static constexpr std::size_t kParts = 10;
  static constexpr std::size_t kCounts = kParts * (kWindows + 1);

  struct Collection {
    /// The count at the latest `add`.
    std::uint64_t total = 0;
    /// Events of each part, in a ring.
    std::array<std::uint64_t, kCounts> counts{};
    /// The part in which a steady time before the latest window was last found. Empty: none.
    std::optional<TimePoint> stopped_at = std::nullopt;
  };

  void advance(TimePoint now);
  void restart(TimePoint now);
  /// The events of a window; 0: the latest.
  std::uint64_t events(const Collection& collection, std::size_t window) const;
  bool was_steady(const Collection& collection) const;
  bool any_continues() const;

  const std::chrono::milliseconds window_;
  std::map<std::string, Collection> collections_;
  TimePoint part_began_at_{};
  /// The current part in the ring.
  std::size_t current_ = 0;
  /// Parts since the start, up to `kCounts`.
  std::size_t known_ = 0;
};

}  // namespace skua::pages
