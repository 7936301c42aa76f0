#include "tap/outbox.hpp"

#include <utility>

namespace skua::sim {
namespace {

/// The number of acks that Tap stores together.
constexpr std::size_t kAcksTogether = 1'000;

}  // namespace

std::uint64_t TapOutbox::add(TapEvent event, TimePoint now) {
  const auto id = ++last_id_;
  ++counts_.added;
  Account& account = accounts_[event.did];
  entries_[id].event = std::make_shared<const TapEvent>(std::move(event));
  account.waiting.push_back(id);
  go_on(account, now);
  return id;
}

void TapOutbox::go_on(Account& account, TimePoint now) {
  while (!account.waiting.empty() && !account.live_in_flight) {
    const auto id = account.waiting.front();
    const auto found = entries_.find(id);
    if (found == entries_.end()) {  // acked before it was sent
      account.waiting.pop_front();
      continue;
    }
    Entry& entry = found->second;
    if (entry.event->live && !account.in_flight.empty()) return;
    account.waiting.pop_front();
    account.in_flight.insert(id);
    in_flight_.insert(id);
    account.live_in_flight = entry.event->live;
    entry.sent_at = now;
    push(id, entry);
  }
}

void TapOutbox::push(std::uint64_t id, Entry& entry) {
  entry.queued = true;
  outgoing_.push_back({id, entry.event});
}

std::string TapOutbox::next() {
  const Outgoing message = outgoing_.front();
  if (repeats_ > 0) {
    --repeats_;
  } else {
    outgoing_.pop_front();
  }
  const auto found = entries_.find(message.id);
  const bool again = found == entries_.end() || found->second.event != message.event ||
                     found->second.deliveries > 0;
  if (found != entries_.end() && found->second.event == message.event) {
    ++found->second.deliveries;
    found->second.queued = false;
  }
  ++counts_.sent;
  if (again) ++counts_.redelivered;
  return "{\"id\":" + std::to_string(message.id) + "," + message.event->body + "}";
}

void TapOutbox::ack(std::uint64_t id, TimePoint now) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) {
    ++counts_.acked_unknown;
    return;
  }
  if (found->second.deliveries == 0) ++counts_.acked_unsent;
  ++counts_.acked;
  const std::string did = found->second.event->did;
  unwritten_.emplace(id, std::move(found->second.event));
  entries_.erase(found);
  if (unwritten_.size() >= kAcksTogether) unwritten_.clear();
  drop(did, id, now);
}

void TapOutbox::drop(const std::string& did, std::uint64_t id, TimePoint now) {
  in_flight_.erase(id);
  const auto account = accounts_.find(did);
  if (account == accounts_.end()) return;
  account->second.in_flight.erase(id);
  if (account->second.in_flight.empty()) account->second.live_in_flight = false;
  go_on(account->second, now);
  if (account->second.waiting.empty() && account->second.in_flight.empty()) {
    accounts_.erase(account);
  }
}

void TapOutbox::retry(TimePoint now) {
  unwritten_.clear();
  for (const auto id : in_flight_) {
    Entry& entry = entries_.at(id);
    if (!entry.queued && now - entry.sent_at > retry_after_) push(id, entry);
  }
}

void TapOutbox::restart(End end, TimePoint now) {
  ++counts_.restarts;
  auto left = std::exchange(entries_, {});
  if (end == End::crash) {
    for (auto& [id, event] : unwritten_) left[id] = {std::move(event), now, 1, false};
  }
  unwritten_.clear();
  accounts_.clear();
  in_flight_.clear();
  outgoing_.clear();
  last_id_ = 0;
  for (auto& [old_id, entry] : left) {
    last_id_ = end == End::renumber ? last_id_ + 1 : old_id;
    entry.queued = false;
    accounts_[entry.event->did].waiting.push_back(last_id_);
    entries_.emplace(last_id_, std::move(entry));
  }
  for (auto& [did, account] : accounts_) go_on(account, now);
}

void TapOutbox::forget(const std::string& did) {
  const auto account = accounts_.find(did);
  if (account == accounts_.end()) return;
  for (const auto id : account->second.in_flight) {
    in_flight_.erase(id);
    entries_.erase(id);
  }
  for (const auto id : account->second.waiting) entries_.erase(id);
  accounts_.erase(account);
}

std::vector<TapOutbox::Stall> TapOutbox::stalls(std::chrono::milliseconds at_least,
                                                TimePoint now) const {
  std::vector<Stall> found;
  for (const auto& [did, account] : accounts_) {
    if (account.in_flight.empty()) continue;
    const auto id = *account.in_flight.begin();
    const Entry& entry = entries_.at(id);
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now - entry.sent_at);
    if (since < at_least) continue;
    found.push_back({did, id, entry.event->live, entry.deliveries, since, account.waiting.size()});
  }
  return found;
}

}  // namespace skua::sim
