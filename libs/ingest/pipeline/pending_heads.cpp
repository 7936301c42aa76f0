#include "pipeline/pending_heads.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace skua::pipeline {

void PendingHeads::add(Ticket ticket, const tables::RepositoryRow& row,
                       verify::Continuity continuity) {
  const std::scoped_lock lock(mutex_);
  entries_.push_back({ticket, row, continuity});
  newest_.insert_or_assign(row.did, Newest{ticket, row});
}

void PendingHeads::add_gap(Ticket ticket, tables::Gap gap) {
  const std::scoped_lock lock(mutex_);
  gaps_.emplace_back(ticket, std::move(gap));
}

std::optional<tables::RepositoryRow> PendingHeads::newest(std::string_view did) const {
  const std::scoped_lock lock(mutex_);
  const auto place = newest_.find(std::string(did));
  if (place == newest_.end()) return std::nullopt;
  return place->second.row;
}

const std::vector<tables::RepositoryProgress>& PendingHeads::collect(Ticket end) {
  std::vector<Entry> finished;
  {
    const std::scoped_lock lock(mutex_);
    const auto left = std::stable_partition(entries_.begin(), entries_.end(),
                                            [&](const Entry& e) { return e.ticket >= end; });
    finished.assign(std::make_move_iterator(left), std::make_move_iterator(entries_.end()));
    entries_.erase(left, entries_.end());
  }
  std::map<std::string, tables::RepositoryProgress> folded;
  for (auto& progress : collected_) folded.emplace(progress.row.did, std::move(progress));
  for (Entry& entry : finished) {
    tables::RepositoryProgress& progress = folded[entry.row.did];
    progress.row = std::move(entry.row);
    progress.breaks += entry.continuity == verify::Continuity::Broken ? 1 : 0;
    if (entry.continuity == verify::Continuity::Born && progress.row.head) {
      progress.born = progress.row.head->rev;
    }
    if (entry.continuity != verify::Continuity::Next && progress.row.head) {
      progress.anchor = progress.row.head->rev;
    }
  }
  collected_.clear();
  collected_.reserve(folded.size());
  for (auto& [did, progress] : folded) collected_.push_back(std::move(progress));
  collected_end_ = std::max(collected_end_, end);
  return collected_;
}

const std::vector<tables::Gap>& PendingHeads::collect_gaps(Ticket end) {
  {
    const std::scoped_lock lock(mutex_);
    const auto left = std::partition(gaps_.begin(), gaps_.end(),
                                     [&](const auto& gap) { return gap.first >= end; });
    for (auto gap = left; gap != gaps_.end(); ++gap) {
      collected_gaps_.push_back(std::move(gap->second));
    }
    gaps_.erase(left, gaps_.end());
  }
  // Only the gap with the newest revision of each DID stays.
  std::sort(collected_gaps_.begin(), collected_gaps_.end(),
            [](const tables::Gap& a, const tables::Gap& b) {
              return std::tie(a.did, b.rev) < std::tie(b.did, a.rev);
            });
  collected_gaps_.erase(
      std::unique(collected_gaps_.begin(), collected_gaps_.end(),
                  [](const tables::Gap& a, const tables::Gap& b) { return a.did == b.did; }),
      collected_gaps_.end());
  return collected_gaps_;
}

void PendingHeads::stored() {
  collected_gaps_.clear();
  const std::scoped_lock lock(mutex_);
  for (const tables::RepositoryProgress& progress : collected_) {
    const auto place = newest_.find(progress.row.did);
    if (place != newest_.end() && place->second.ticket < collected_end_) newest_.erase(place);
  }
  collected_.clear();
}

}  // namespace skua::pipeline
