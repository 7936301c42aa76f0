#include "sources/relay/standby_positions.hpp"

#include <algorithm>

namespace skua::sources {
namespace {

/// While the active relay is far behind, positions gather: a day of them at one a minute.
constexpr std::size_t kMostWaiting = 1'440;

}  // namespace

StandbyPositions::StandbyPositions(std::size_t relays, Duration margin)
    : margin_(margin), relays_(relays) {}

void StandbyPositions::seen(std::size_t relay, std::int64_t seq, TimePoint now) {
  Relay& one = relays_[relay];
  if (!one.oldest) one.oldest = seq;
  if (one.waiting.size() >= kMostWaiting) one.waiting.pop_back();
  one.waiting.push_back({seq, now, std::nullopt});
}

bool StandbyPositions::wants_head(TimePoint now) const {
  return std::any_of(relays_.begin(), relays_.end(), [&](const Relay& relay) {
    return std::any_of(relay.waiting.begin(), relay.waiting.end(), [&](const Position& position) {
      return !position.head && position.at + margin_ <= now;
    });
  });
}

void StandbyPositions::head(std::int64_t seq, TimePoint asked_at) {
  for (Relay& relay : relays_) {
    for (Position& position : relay.waiting) {
      if (!position.head && position.at + margin_ <= asked_at) position.head = seq;
    }
  }
}

std::optional<std::int64_t> StandbyPositions::durable(std::size_t relay, std::int64_t seq) {
  auto& waiting = relays_[relay].waiting;
  std::optional<std::int64_t> newest;
  while (!waiting.empty() && waiting.front().head && *waiting.front().head <= seq) {
    newest = waiting.front().seq;
    waiting.pop_front();
  }
  return newest;
}

std::optional<std::int64_t> StandbyPositions::oldest_seen(std::size_t relay) const {
  return relays_[relay].oldest;
}

void StandbyPositions::forget_waiting() {
  for (Relay& relay : relays_) relay.waiting.clear();
}

void StandbyPositions::forget(std::size_t relay) {
  relays_[relay].waiting.clear();
  relays_[relay].oldest.reset();
}

}  // namespace skua::sources
