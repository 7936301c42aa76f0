#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "base/time.hpp"

namespace skua::consumers {

/// The projections of users whose work held a thread for long. Threads of their own work on these,
/// so that they delay each other only. A projection that held a thread for a time is slow for
/// `kRest` times this time. So the share of one slow projection is a small part of a thread of the
/// others, whatever it does. One process; any thread.
class SlowProjections {
 public:
  static constexpr int kRest = 60;

  /// Work that takes `quick` or longer is slow. The clock outlives the object.
  SlowProjections(const Clock& clock, std::chrono::milliseconds quick)
      : clock_(clock), quick_(quick) {}

  std::chrono::milliseconds quick() const { return quick_; }

  /// Notes the time for which work for a consumer held a thread.
  void note(std::int32_t consumer_id, std::chrono::milliseconds time) {
    if (time < quick_) return;
    const std::scoped_lock lock(mutex_);
    Timestamp& until = until_[consumer_id];
    until = std::max(until, clock_.now() + kRest * time);
  }

  bool contains(std::int32_t consumer_id) const {
    const std::scoped_lock lock(mutex_);
    const auto found = until_.find(consumer_id);
    return found != until_.end() && found->second > clock_.now();
  }

  /// Returns the consumers that are slow now.
  std::vector<std::int32_t> ids() {
    const std::scoped_lock lock(mutex_);
    std::erase_if(until_, [now = clock_.now()](const auto& one) { return one.second <= now; });
    std::vector<std::int32_t> ids;
    ids.reserve(until_.size());
    for (const auto& [id, until] : until_) ids.push_back(id);
    return ids;
  }

 private:
  const Clock& clock_;
  const std::chrono::milliseconds quick_;
  mutable std::mutex mutex_;
  std::map<std::int32_t, Timestamp> until_;
};

}  // namespace skua::consumers
