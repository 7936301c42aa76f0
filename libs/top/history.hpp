#pragma once

#include <chrono>
#include <deque>

#include "top/samples.hpp"

namespace skua::top {

/// The metrics of the last minute, for rates. At most 32 readings, at least two seconds apart. A
/// counter that fell begins the history again. One thread.
class History {
 public:
  void add(Reading reading);

  /// The latest reading; null: there is none.
  const Reading* now() const { return readings_.empty() ? nullptr : &readings_.back(); }
  /// The oldest reading of the time before the latest one; null: there is none. If readings are
  /// further apart than this time, the one before the latest.
  const Reading* before(std::chrono::milliseconds time) const;

 private:
  /// Sorted by time.
  std::deque<Reading> readings_;
};

}  // namespace skua::top
