#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "consumers/own/slow_projections.hpp"

namespace skua::consumers {

/// The consumers for which a thread works.
struct Workload {
  /// True: only projections of users. False: only built-in ones. Nothing: all.
  std::optional<bool> is_own = std::nullopt;
  /// The projections that are slow. The first set also receives those for which this work takes
  /// long. Empty if one thread does all work.
  std::vector<SlowProjections*> slow = {};
  /// True: the thread works for slow projections only. False: for all others.
  bool takes_slow = false;

  bool takes(std::int32_t consumer_id, bool is_own_consumer) const {
    return (!is_own || *is_own == is_own_consumer) && takes(consumer_id);
  }
  bool takes(std::int32_t consumer_id) const {
    return slow.empty() || takes_slow == std::ranges::any_of(slow, [&](const SlowProjections* set) {
                             return set->contains(consumer_id);
                           });
  }
  /// Whether a statement of a user ends after the time of quick work, and is repeated by a thread
  /// for slow projections.
  bool is_quick() const { return !slow.empty() && !takes_slow; }
};

}  // namespace skua::consumers
