#include "sources/tap/ack_ledger.hpp"

#include <algorithm>

namespace skua::sources {

void AckLedger::expect(Ticket ticket, std::int64_t id) {
  const std::scoped_lock lock(mutex_);
  ids_.emplace(ticket, id);
}

void AckLedger::finished(std::span<const Ticket> tickets) {
  const std::scoped_lock lock(mutex_);
  for (const Ticket ticket : tickets) {
    const auto found = ids_.find(ticket);
    if (found == ids_.end()) continue;
    ready_.push_back(found->second);
    ids_.erase(found);
  }
  send();
}

void AckLedger::connection_ended() {
  const std::scoped_lock lock(mutex_);
  forgotten_ += ids_.size() + ready_.size();
  ids_.clear();
  ready_.clear();
}

AckLedger::Counters AckLedger::metrics() const {
  const std::scoped_lock lock(mutex_);
  return {ids_.size(), ready_.size(), acknowledged_, forgotten_};
}

void AckLedger::send() {
  if (ready_.empty()) return;
  const std::size_t taken = std::min(send_(ready_), ready_.size());
  acknowledged_ += taken;
  ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(taken));
}

}  // namespace skua::sources
