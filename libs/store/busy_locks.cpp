#include "store/busy_locks.hpp"

#include <cstddef>

namespace skua::store {
namespace {

constexpr std::chrono::seconds kForgetAfter{30};
constexpr std::chrono::minutes kTellEvery{1};
constexpr std::size_t kMost = 10'000;

}  // namespace

std::vector<BusyLocks::Busy> BusyLocks::seen(std::span<const Lock> locks, Time now) {
  std::vector<Busy> told;
  const std::scoped_lock guard(mutex_);
  if (entries_.size() + locks.size() > kMost) {
    boost::unordered::erase_if(
        entries_, [&](const auto& entry) { return now - entry.second.last > kForgetAfter; });
  }
  for (const Lock& lock : locks) {
    auto place = entries_.find(lock.key);
    if (place == entries_.end()) {
      if (entries_.size() >= kMost) continue;
      place = entries_.emplace(lock.key, Entry{now, now, now}).first;
    }
    Entry& entry = place->second;
    if (now - entry.last > kForgetAfter) entry = {now, now, now};
    entry.last = now;
    if (now - entry.told < kTellEvery) continue;
    entry.told = now;
    told.push_back({lock, std::chrono::duration_cast<std::chrono::seconds>(now - entry.first)});
  }
  return told;
}

BusyLocks& busy_locks() {
  static BusyLocks locks;
  return locks;
}

}  // namespace skua::store
