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

/// Finds collections whose events stopped while those of other collections continue. A collection
/// is quiet if it had no event for a window of time, after six windows that each had some. It stays
/// quiet until its next event, and for six windows at most, because its absence is then the normal
/// state. Bounded: seventy counts for each collection. One thread.
class QuietCollections {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// The number of windows before the quiet one.
  static constexpr std::size_t kWindows = 6;
  /// The number of events of each window that makes a steady rate: a random rate with this mean has
  /// a window without events with a probability of less than 1 in 10^8.
  static constexpr std::uint64_t kSteady = 20;

  /// `window` is at least three seconds.
  explicit QuietCollections(std::chrono::seconds window = std::chrono::minutes(10))
      : window_(window) {}

  /// Adds the counts since the start, which only grow. A count that fell belongs to another run:
  /// the history then begins again, as after a window without a call. The caller must call this
  /// function every tenth of a window, or once a second.
  void add(const CountsByLabel& counts, TimePoint now);

  /// Returns the quiet collections, sorted by name.
  std::vector<std::string> quiet() const;

 private:
  /// The number of parts of a window. Each part has one count.
  static constexpr std::size_t kParts = 10;
  static constexpr std::size_t kCounts = kParts * (kWindows + 1);

  struct Collection {
    /// The count at the latest call of `add`.
    std::uint64_t total = 0;
    /// The events of each part, in a ring.
    std::array<std::uint64_t, kCounts> counts{};
    /// The latest part at which the time before the latest window was steady; nothing if there was
    /// none.
    std::optional<TimePoint> stopped_at = std::nullopt;
  };

  void advance(TimePoint now);
  void restart(TimePoint now);
  /// Returns the events of a window. Window 0 is the latest.
  std::uint64_t events(const Collection& collection, std::size_t window) const;
  bool was_steady(const Collection& collection) const;
  bool any_continues() const;

  const std::chrono::milliseconds window_;
  std::map<std::string, Collection> collections_;
  TimePoint part_began_at_{};
  /// The place of the current part in the ring.
  std::size_t current_ = 0;
  /// The number of parts since the start, up to `kCounts`.
  std::size_t known_ = 0;
};

}  // namespace skua::pages
