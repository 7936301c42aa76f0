#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace skua::sim {

/// Counts the HTTP requests to a server: all of them, the largest number at the same time, and the
/// largest number in one second. Has no clock of its own. One thread.
class RequestLoad {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  void begin(TimePoint now) {
    ++requests_;
    most_at_once_ = std::max(most_at_once_, ++at_once_);
    while (!last_second_.empty() && now - last_second_.front() >= std::chrono::seconds(1)) {
      last_second_.pop_front();
    }
    last_second_.push_back(now);
    most_in_a_second_ = std::max(most_in_a_second_, last_second_.size());
  }
  void end() { --at_once_; }

  std::uint64_t requests() const { return requests_; }
  std::size_t most_at_once() const { return most_at_once_; }
  std::size_t most_in_a_second() const { return most_in_a_second_; }

 private:
  std::uint64_t requests_ = 0;
  std::size_t at_once_ = 0;
  std::size_t most_at_once_ = 0;
  std::deque<TimePoint> last_second_;
  std::size_t most_in_a_second_ = 0;
};

}  // namespace skua::sim
