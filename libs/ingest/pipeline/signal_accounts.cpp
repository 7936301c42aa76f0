#include "pipeline/signal_accounts.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace skua::pipeline {

SignalAccounts::SignalAccounts(Options options)
    : options_(std::move(options)), seen_(options_.remembered) {}

bool SignalAccounts::may_be_in(ByteView message) const {
  const std::string_view text(reinterpret_cast<const char*>(message.data()), message.size());
  return std::any_of(options_.collections.begin(), options_.collections.end(),
                     [&](const std::string& name) { return text.find(name) != text.npos; });
}

bool SignalAccounts::is_signal(const event::UnresolvedEvent& event) const {
  const auto* change = std::get_if<event::RecordChange>(&event.body);
  return change != nullptr && change->operation != event::Operation::Delete &&
         std::find(options_.collections.begin(), options_.collections.end(), change->collection) !=
             options_.collections.end();
}

void SignalAccounts::look_at(std::span<const event::UnresolvedEvent> events) {
  for (const event::UnresolvedEvent& event : events) {
    if (is_signal(event)) add(event.did);
  }
}

void SignalAccounts::add(const std::string& did) {
  const std::scoped_lock lock(mutex_);
  if (seen_.find(did) != nullptr) return;
  if (waiting_.size() >= options_.most_waiting) {
    metrics_.dropped += 1;
    return;
  }
  seen_.insert(did, Seen());
  waiting_.push_back(did);
  metrics_.found += 1;
  metrics_.waiting = waiting_.size();
}

std::vector<std::string> SignalAccounts::take(std::size_t most) {
  const std::scoped_lock lock(mutex_);
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(most, waiting_.size()));
  std::vector<std::string> taken(std::make_move_iterator(waiting_.begin()),
                                 std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  metrics_.waiting = waiting_.size();
  return taken;
}

void SignalAccounts::give_back(std::vector<std::string> dids) {
  const std::scoped_lock lock(mutex_);
  waiting_.insert(waiting_.begin(), std::make_move_iterator(dids.begin()),
                  std::make_move_iterator(dids.end()));
  metrics_.waiting = waiting_.size();
}

}  // namespace skua::pipeline
