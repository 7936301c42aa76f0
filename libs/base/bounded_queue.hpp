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

/// The weight of an item in a queue that counts items.
struct WeightOne {
  template <class T>
  std::size_t operator()(const T&) const {
    return 1;
  }
};

/// A first-in first-out queue between threads with at most `capacity` items. Any number of
/// producers and consumers. After `close()` it accepts no items; consumers receive the remaining
/// ones and then see the end. `Weight` says how much an item counts for a consumer that takes many.
template <class T, class Weight = WeightOne>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  /// Waits for room. False: the queue is closed and the item was not taken.
  bool push(T item) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return closed_ || items_.size() < capacity_; });
    if (closed_) return false;
    append(std::move(item));
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
      append(std::move(item));
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
    std::optional<T> item(take_front());
    lock.unlock();
    room_.notify_one();
    return item;
  }

  /// Appends items to `out` until their weight is at least `max`: waits at most `wait` for the
  /// first, takes the rest only if they are there. Returns their weight; 0 with `closed()` true
  /// means the end.
  std::size_t pop_some(std::vector<T>& out, std::size_t max, std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    filled_.wait_for(lock, wait, [&] { return closed_ || !items_.empty(); });
    std::size_t taken = 0;
    while (taken < max && !items_.empty()) {
      out.push_back(take_front());
      taken += Weight()(out.back());
    }
    lock.unlock();
    if (taken > 0) room_.notify_all();
    return taken;
  }

  /// Waits until items of this weight are there, the queue is closed, or `wait` is over, without
  /// waking for each item on the way. One consumer at a time.
  void wait_for_many(std::size_t weight, std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    wanted_ = weight;
    many_.wait_for(lock, wait, [&] { return closed_ || weight_ >= weight; });
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

  /// The weight of all items.
  std::size_t weight() const {
    const std::scoped_lock lock(mutex_);
    return weight_;
  }

 private:
  void append(T item) {
    weight_ += Weight()(item);
    items_.push_back(std::move(item));
  }
  T take_front() {
    T item = std::move(items_.front());
    items_.pop_front();
    weight_ -= Weight()(item);
    return item;
  }
  bool is_many() const { return wanted_ > 0 && weight_ >= wanted_; }

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable many_;
  std::condition_variable room_;
  std::deque<T> items_;
  std::size_t weight_ = 0;  // of all items
  std::size_t wanted_ = 0;  // the weight that a consumer waits for; 0: none waits
  bool closed_ = false;
};

}  // namespace skua
