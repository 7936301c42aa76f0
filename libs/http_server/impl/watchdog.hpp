#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include <boost/asio/steady_timer.hpp>

namespace skua::http_server {

/// Calls a function unless it is disarmed in time. The function keeps the owner of the watchdog
/// alive. One thread.
class Watchdog {
 public:
  explicit Watchdog(const boost::asio::any_io_executor& executor) : timer_(executor) {}

  /// Replaces the previous function.
  void arm(std::chrono::milliseconds time, std::function<void()> expired) {
    const auto armed = ++armed_;
    timer_.expires_after(time);
    timer_.async_wait([this, armed, expired = std::move(expired)](boost::system::error_code error) {
      if (!error && armed == armed_) expired();
    });
  }
  void disarm() {
    ++armed_;
    timer_.cancel();
  }

 private:
  boost::asio::steady_timer timer_;
  std::uint64_t armed_ = 0;
};

}  // namespace skua::http_server
