#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace skua {

/// A first-in first-out queue between threads with at most `capacity` items. Any number of
/// producers and consumers. After `close()` it accepts no items; consumers receive the remaining
/// ones and then see the end.
template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  /// Waits for room. False: the queue is closed and the item was not taken.
  bool push(T item) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return closed_ || items_.size() < capacity_; });
    if (closed_) return false;
    items_.push_back(std::move(item));
    const bool many = is_many();
    lock.unlock();
    filled_.notify_one();
    if (many) many_.notify_one();
    return true;
  }

  /// Does not wait. False: full or closed; `item` is untouched.
  bool try_push(T& item) {
    bool many = false;
    {
      const std::scoped_lock lock(mutex_);
      if (closed_ || items_.size() >= capacity_) return false;
      items_.push_back(std::move(item));
      many = is_many();
    }
    filled_.notify_one();
    if (many) many_.notify_one();
    return true;
  }

  /// Waits for an item. Nothing: closed and drained.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    lock.unlock();
    room_.notify_one();
    return item;
  }

  /// Appends up to `max` items to `out`: waits at most `wait` for the first, takes the rest only if
  /// they are there. Returns how many were taken; 0 with `closed()` true means the end.
  std::size_t pop_some(std::vector<T>& out, std::size_t max, std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    filled_.wait_for(lock, wait, [&] { return closed_ || !items_.empty(); });
    std::size_t taken = 0;
    while (taken < max && !items_.empty()) {
      out.push_back(std::move(items_.front()));
      items_.pop_front();
      ++taken;
    }
    lock.unlock();
    if (taken > 0) room_.notify_all();
    return taken;
  }

  /// Waits until `count` items are there, the queue is closed, or `wait` is over, without waking
  /// for each item on the way. One consumer at a time.
  void wait_for_many(std::size_t count, std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    wanted_ = count;
    many_.wait_for(lock, wait, [&] { return closed_ || items_.size() >= count; });
    wanted_ = 0;
  }

  void close() {
    {
      const std::scoped_lock lock(mutex_);
      closed_ = true;
    }
    filled_.notify_all();
    many_.notify_all();
    room_.notify_all();
  }

  bool closed() const {
    const std::scoped_lock lock(mutex_);
    return closed_;
  }

  std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return items_.size();
  }

 private:
  bool is_many() const { return wanted_ > 0 && items_.size() >= wanted_; }

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable many_;
  std::condition_variable room_;
  std::deque<T> items_;
  std::size_t wanted_ = 0;  // by who waits for many; 0: nobody does
  bool closed_ = false;
};

}  // namespace skua
