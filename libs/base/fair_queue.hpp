#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/fair_lines.hpp"

namespace skua {

/// FairLines between threads: keys take turns. Any number of producers and one consumer. Not
/// bounded: its producers are. After `close()` it accepts no items; the consumer receives the
/// remaining ones and then sees the end.
///
/// `Traits` has static functions of an item: `key` (a hash; keys with the same hash share their
/// turns), `weight` (how much it counts for the size of a batch) and `cost` (in the unit of
/// `Room::cost`).
template <class T, class Traits>
class FairQueue {
 public:
  using Key = std::uint64_t;
  /// Keys that are passed over, with any value.
  using Skipped = boost::unordered_flat_map<Key, bool>;

  /// How much a consumer takes: items until one of the sums is reached.
  struct Room {
    std::size_t weight = 0;
    std::size_t cost = std::numeric_limits<std::size_t>::max();
  };

  void push(T&& item) {
    bool many = false;
    {
      const std::scoped_lock lock(mutex_);
      if (closed_) return;
      weight_ += Traits::weight(item);
      const Key key = Traits::key(item);
      lines_.push(key, std::move(item));
      many = wanted_ > 0 && weight_ >= wanted_;
    }
    filled_.notify_one();
    if (many) many_.notify_one();
  }

  /// Appends items to `out` until there is no room: waits at most `wait` for the first, takes the
  /// rest only if they are there. At least one item is taken, whatever it costs. Returns what was
  /// taken; no weight with `closed()` true means the end.
  Room pop_some(std::vector<T>& out, Room room, const Skipped& skipped,
                std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    filled_.wait_for(lock, wait, [&] { return closed_ || lines_.size() > 0; });
    Room taken{0, 0};
    // How many keys were passed over since the last item: then all keys that are left.
    std::size_t passed = 0;
    while (passed < lines_.turns() && taken.weight < room.weight && taken.cost < room.cost) {
      if (skipped.contains(lines_.next())) {
        lines_.pass_over();
        ++passed;
        continue;
      }
      passed = 0;
      out.push_back(lines_.take());
      taken.weight += Traits::weight(out.back());
      taken.cost += Traits::cost(out.back());
    }
    weight_ -= taken.weight;
    return taken;
  }

  /// Waits until items of this weight are there, the queue is closed, or `wait` is over, without
  /// waking for each item on the way.
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
  }

  bool closed() const {
    const std::scoped_lock lock(mutex_);
    return closed_;
  }
  std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return lines_.size();
  }
  /// The weight of all items.
  std::size_t weight() const {
    const std::scoped_lock lock(mutex_);
    return weight_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable many_;
  FairLines<T, Key> lines_;
  std::size_t weight_ = 0;  // of all items
  std::size_t wanted_ = 0;  // the weight that the consumer waits for; 0: it does not wait
  bool closed_ = false;
};

}  // namespace skua
