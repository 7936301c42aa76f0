#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>

namespace skua::writer {

/// Live events go first: counts the events that wait in live lanes, and makes backfill workers wait
/// while these lanes are deep. Any thread.
class LiveBackpressure {
 public:
  explicit LiveBackpressure(std::size_t deep) : deep_(deep) {}

  void add(std::size_t events) {
    const std::scoped_lock lock(mutex_);
    waiting_ += events;
  }
  void remove(std::size_t events) {
    bool is_shallow = false;
    {
      const std::scoped_lock lock(mutex_);
      waiting_ -= events;
      is_shallow = waiting_ < deep_;
    }
    if (is_shallow) changed_.notify_all();
  }
  /// Returns when live lanes are no longer deep, or when `stop` is asked for.
  void wait_while_deep(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return waiting_ < deep_; });
  }
  std::size_t waiting() const {
    const std::scoped_lock lock(mutex_);
    return waiting_;
  }

 private:
  const std::size_t deep_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t waiting_ = 0;
};

}  // namespace skua::writer
