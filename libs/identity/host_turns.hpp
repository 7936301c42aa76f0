#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/seeded_hash.hpp"

namespace skua::identity {

/// Requests that wait for their turn at hosts: so many are under way in all, and so many at one
/// host, so that hosts take turns and a silent one holds up its own requests only. Requests are
/// named by numbers that grow. No I/O, no time of its own. One thread.
class HostTurns {
 public:
  using Time = std::chrono::steady_clock::time_point;

  HostTurns(std::size_t at_once, std::size_t of_one_host)
      : at_once_(at_once), of_one_host_(of_one_host) {}

  void push(std::uint64_t id, std::string host, Time now);
  /// The next that may be made: it is under way until `finished`. Nothing: none may.
  std::optional<std::uint64_t> take();
  /// A request to this host has ended. Throws std::logic_error when none was under way.
  void finished(const std::string& host);

  /// Takes out those that have waited since `time` or before, the oldest first.
  std::vector<std::uint64_t> take_waiting_since(Time time);
  /// Since when the oldest waits; nothing: none does.
  std::optional<Time> oldest() const;

  std::size_t waiting() const { return waiting_.size(); }
  std::size_t under_way() const { return under_way_; }

 private:
  struct Host {
    std::deque<std::uint64_t> waiting;  // also those that were taken out meanwhile
    std::size_t under_way = 0;
    bool has_turn = false;
  };

  void give_turn(const std::string& name, Host& host);

  const std::size_t at_once_;
  const std::size_t of_one_host_;
  std::size_t under_way_ = 0;
  std::map<std::uint64_t, Time> waiting_;
  std::unordered_map<std::string, Host, SeededHash> hosts_;
  /// The hosts that have room and something that waits, in the order of their turns.
  std::deque<std::string> turns_;
};

}  // namespace skua::identity
