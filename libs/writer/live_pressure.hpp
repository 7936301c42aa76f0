#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>

namespace skua::writer {

/// Live goes first: counts the events that wait in live lanes, and lets backfill workers wait while
/// they are many. Any thread.
class LivePressure {
 public:
  explicit LivePressure(std::size_t deep) : deep_(deep) {}

  void add(std::size_t events) {
    const std::scoped_lock lock(mutex_);
    waiting_ += events;
  }
  void remove(std::size_t events) {
    bool eased = false;
    {
      const std::scoped_lock lock(mutex_);
      waiting_ -= events;
      eased = waiting_ < deep_;
    }
    if (eased) eased_.notify_all();
  }
  /// Returns when live lanes are no longer deep, or when `stop` is asked for.
  void wait_until_eased(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    eased_.wait(lock, stop, [&] { return waiting_ < deep_; });
  }
  std::size_t waiting() const {
    const std::scoped_lock lock(mutex_);
    return waiting_;
  }

 private:
  const std::size_t deep_;
  mutable std::mutex mutex_;
  std::condition_variable_any eased_;
  std::size_t waiting_ = 0;
};

}  // namespace skua::writer
