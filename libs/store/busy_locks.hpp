#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "store/advisory_lock.hpp"

namespace skua::store {

/// For how long locks have been somebody else's, as those of this process see it that want them.
/// Any thread. Bounded: 10,000 locks.
class BusyLocks {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Busy {
    Lock lock;
    std::chrono::seconds busy_for;
  };

  /// They are held by others at this moment. One that is not seen for 30 seconds was free in
  /// between. Returns those that have been held for a minute or longer and were not returned within
  /// the last minute.
  std::vector<Busy> seen(std::span<const Lock> locks, Time now);

 private:
  struct Entry {
    Time first;
    Time last;
    Time told;
  };

  std::mutex mutex_;
  // Keys of locks are hashes already, which nobody outside can foresee.
  boost::unordered_flat_map<std::int64_t, Entry> entries_;
};

/// The one of this process.
BusyLocks& busy_locks();

}  // namespace skua::store
