#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <utility>

namespace skua::pages {

/// Shows whether a loop of the process moves. The loop beats in each round, and rests before work
/// that may take any time. Any thread.
class Heartbeat {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// A loop that does not beat for so long is stuck. Rounds take a second at most.
  static constexpr std::chrono::seconds kStuck{30};

  explicit Heartbeat(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  void beat(TimePoint now) { latest_ = now; }
  /// Until the next beat the loop is not stuck.
  void rest() { latest_ = TimePoint::max(); }
  bool is_stuck(TimePoint now) const {
    const TimePoint latest = latest_;
    return latest != TimePoint::max() && now - latest >= kStuck;
  }

 private:
  const std::string name_;
  std::atomic<TimePoint> latest_{TimePoint::max()};
};

}  // namespace skua::pages
