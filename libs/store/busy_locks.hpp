#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "store/advisory_lock.hpp"

namespace skua::store {

/// Measures how long other sessions have held the locks that this process waits for. Any thread.
/// Bounded: 10,000 locks.
class BusyLocks {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Busy {
    Lock lock;
    std::chrono::seconds busy_for;
  };

  /// Other sessions hold these locks now. A lock that was not reported for 30 seconds counts as
  /// free in between. Returns the locks that have been held for a minute or longer and were not
  /// returned within the last minute.
  std::vector<Busy> seen(std::span<const Lock> locks, Time now);

 private:
  struct Entry {
    Time first;
    Time last;
    Time told;
  };

  std::mutex mutex_;
  // The keys are hashes already, and outsiders cannot predict them.
  boost::unordered_flat_map<std::int64_t, Entry> entries_;
};

/// The instance of this process.
BusyLocks& busy_locks();

}  // namespace skua::store
