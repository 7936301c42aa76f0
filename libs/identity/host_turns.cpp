#include "identity/host_turns.hpp"

#include <stdexcept>
#include <utility>

namespace skua::identity {

void HostTurns::push(std::uint64_t id, std::string host, Time now) {
  waiting_.emplace(id, now);
  Host& place = hosts_[host];
  place.waiting.push_back(id);
  give_turn(host, place);
}

std::optional<std::uint64_t> HostTurns::take() {
  while (under_way_ < at_once_ && !turns_.empty()) {
    const std::string name = std::move(turns_.front());
    turns_.pop_front();
    Host& host = hosts_.at(name);
    host.has_turn = false;
    const std::uint64_t id = host.waiting.front();
    host.waiting.pop_front();
    const bool is_there = waiting_.erase(id) > 0;
    if (is_there) {
      ++host.under_way;
      ++under_way_;
    }
    if (host.waiting.empty() && host.under_way == 0) {
      hosts_.erase(name);
    } else {
      give_turn(name, host);
    }
    if (is_there) return id;
  }
  return std::nullopt;
}

void HostTurns::finished(const std::string& host) {
  const auto place = hosts_.find(host);
  if (place == hosts_.end() || place->second.under_way == 0) {
    throw std::logic_error("a request finished that was not started");
  }
  --place->second.under_way;
  --under_way_;
  if (place->second.under_way == 0 && place->second.waiting.empty()) {
    hosts_.erase(place);
  } else {
    give_turn(host, place->second);
  }
}

std::vector<std::uint64_t> HostTurns::take_waiting_since(Time time) {
  std::vector<std::uint64_t> taken;
  while (!waiting_.empty() && waiting_.begin()->second <= time) {
    taken.push_back(waiting_.begin()->first);
    waiting_.erase(waiting_.begin());
  }
  return taken;
}

std::optional<HostTurns::Time> HostTurns::oldest() const {
  if (waiting_.empty()) return std::nullopt;
  return waiting_.begin()->second;
}

void HostTurns::give_turn(const std::string& name, Host& host) {
  if (host.has_turn || host.waiting.empty() || host.under_way >= of_one_host_) return;
  host.has_turn = true;
  turns_.push_back(name);
}

}  // namespace skua::identity
