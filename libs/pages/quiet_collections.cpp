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
  // After a pause of the machine the counts of many parts come at once.
  if (collections_.empty() || is_other_run || now - part_began_at_ >= window_) restart(now);
  advance(now);
  for (const auto& [name, total] : counts) {
    const auto [entry, is_new] = collections_.try_emplace(name);
    Collection& collection = entry->second;
    if (!is_new) collection.counts[current_] += total - collection.total;
    collection.total = total;
  }
}

std::uint64_t QuietCollections::events(const Collection& collection, std::size_t window) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kParts; ++i) {
    sum += collection.counts[(current_ + kCounts - (window * kParts + i)) % kCounts];
  }
  return sum;
}

std::vector<std::string> QuietCollections::quiet() const {
  if (known_ < kCounts) return {};
  std::vector<std::string> quiet;
  bool others_continue = false;
  for (const auto& [name, collection] : collections_) {
    const std::uint64_t latest = events(collection, 0);
    others_continue = others_continue || latest >= kSteady;
    if (latest > 0) continue;
    bool was_steady = true;
    for (std::size_t window = 1; window <= kWindows; ++window) {
      was_steady = was_steady && events(collection, window) >= kSteady;
    }
    if (was_steady) quiet.push_back(name);
  }
  return others_continue ? quiet : std::vector<std::string>();
}

}  // namespace skua::pages
