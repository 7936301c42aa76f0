#include "pages/quiet_collections.hpp"

#include <algorithm>

namespace skua::pages {

void QuietCollections::restart(TimePoint now) {
  collections_.clear();
  part_began_at_ = now;
  current_ = 0;
  known_ = 0;
}

void QuietCollections::advance(TimePoint now) {
  const std::chrono::milliseconds part = window_ / kParts;
  for (; now - part_began_at_ >= part; part_began_at_ += part) {
    current_ = (current_ + 1) % kCounts;
    known_ = std::min(known_ + 1, kCounts);
    for (auto& [name, collection] : collections_) collection.counts[current_] = 0;
  }
}

void QuietCollections::add(const CountsByLabel& counts, TimePoint now) {
  const bool is_other_run = std::ranges::any_of(counts, [&](const auto& entry) {
    const auto known = collections_.find(entry.first);
    return known != collections_.end() && entry.second < known->second.total;
  });
  // After a pause of the machine the counts of many parts come at once, so the history begins
  // again.
  if (collections_.empty() || is_other_run || now - part_began_at_ >= window_) restart(now);
  advance(now);
  for (const auto& [name, total] : counts) {
    const auto [entry, is_new] = collections_.try_emplace(name);
    Collection& collection = entry->second;
    const std::uint64_t added = is_new ? 0 : total - collection.total;
    collection.counts[current_] += added;
    collection.total = total;
    if (added > 0) collection.stopped_at.reset();
  }
  if (known_ < kCounts || !any_continues()) return;
  for (auto& [name, collection] : collections_) {
    if (events(collection, 0) == 0 && was_steady(collection))
      collection.stopped_at = part_began_at_;
  }
}

std::uint64_t QuietCollections::events(const Collection& collection, std::size_t window) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kParts; ++i) {
    sum += collection.counts[(current_ + kCounts - (window * kParts + i)) % kCounts];
  }
  return sum;
}

bool QuietCollections::was_steady(const Collection& collection) const {
  for (std::size_t window = 1; window <= kWindows; ++window) {
    if (events(collection, window) < kSteady) return false;
  }
  return true;
}

bool QuietCollections::any_continues() const {
  return std::ranges::any_of(collections_,
                             [&](const auto& entry) { return events(entry.second, 0) >= kSteady; });
}

std::vector<std::string> QuietCollections::quiet() const {
  std::vector<std::string> quiet;
  if (!any_continues()) return quiet;
  for (const auto& [name, collection] : collections_) {
    const bool stopped =
        collection.stopped_at && part_began_at_ - *collection.stopped_at < window_ * kWindows;
    if (stopped && events(collection, 0) == 0) quiet.push_back(name);
  }
  return quiet;
}

}  // namespace skua::pages
