#include "backfill/hosts/spool_budget.hpp"

namespace skua::backfill {

bool SpoolBudget::take(const std::string& site, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto place = by_site_.find(site);
  const std::uint64_t of_site = place == by_site_.end() ? 0 : place->second;
  if (taken_ + bytes > in_all_ || of_site + bytes > in_all_ / 2) return false;
  taken_ += bytes;
  by_site_[site] = of_site + bytes;
  return true;
}

void SpoolBudget::give_back(const std::string& site, std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::scoped_lock lock(mutex_);
  taken_ -= bytes;
  const auto place = by_site_.find(site);
  place->second -= bytes;
  if (place->second == 0) by_site_.erase(place);
}

std::uint64_t SpoolBudget::taken() const {
  const std::scoped_lock lock(mutex_);
  return taken_;
}

}  // namespace skua::backfill
