#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace skua {

/// A queue between threads in which keys take turns: a consumer gets one item of each key that has
/// items, then the next item of each, and so on. The items of a key keep their order. So a key with
/// many items delays its own items only. Any number of producers and one consumer. Not bounded: its
/// producers are. After `close()` it accepts no items; the consumer receives the remaining ones and
/// then sees the end.
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

  void push(T item) {
    bool many = false;
    {
      const std::scoped_lock lock(mutex_);
      if (closed_) return;
      weight_ += Traits::weight(item);
      append(std::move(item));
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
    filled_.wait_for(lock, wait, [&] { return closed_ || size_ > 0; });
    Room taken{0, 0};
    // How many keys were passed over since the last item: then all keys that are left.
    std::size_t passed = 0;
    while (passed < turns_.size() && taken.weight < room.weight && taken.cost < room.cost) {
      const Key key = turns_.front();
      turns_.pop_front();
      if (skipped.contains(key)) {
        turns_.push_back(key);
        ++passed;
        continue;
      }
      passed = 0;
      out.push_back(take_first(key));
      taken.weight += Traits::weight(out.back());
      taken.cost += Traits::cost(out.back());
    }
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
    return size_;
  }
  /// The weight of all items.
  std::size_t weight() const {
    const std::scoped_lock lock(mutex_);
    return weight_;
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// An item and the place of the next one of its key. Places without an item are a list, too.
  struct Place {
    T item;
    std::uint32_t next = kNone;
  };
  /// The items of a key.
  struct Line {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };

  void append(T item) {
    const std::uint32_t place = free_place(std::move(item));
    const Key key = Traits::key(places_[place].item);
    Line& line = lines_[key];
    if (line.first == kNone) {
      line.first = place;
      turns_.push_back(key);
    } else {
      places_[line.last].next = place;
    }
    line.last = place;
    ++size_;
  }

  std::uint32_t free_place(T item) {
    if (free_ == kNone) {
      places_.push_back({std::move(item)});
      return static_cast<std::uint32_t>(places_.size() - 1);
    }
    const std::uint32_t place = free_;
    free_ = places_[place].next;
    places_[place] = {std::move(item)};
    return place;
  }

  /// The first item of the key whose turn it is. The key waits for its next turn if it has more.
  T take_first(Key key) {
    const auto line = lines_.find(key);
    const std::uint32_t place = line->second.first;
    T item = std::move(places_[place].item);
    line->second.first = places_[place].next;
    places_[place].next = free_;
    free_ = place;
    if (line->second.first == kNone) {
      lines_.erase(line);
    } else {
      turns_.push_back(key);
    }
    --size_;
    weight_ -= Traits::weight(item);
    if (size_ == 0) release_memory();
    return item;
  }

  /// After a crowd has left.
  void release_memory() {
    constexpr std::size_t kKept = 10'000;
    if (places_.size() <= kKept) return;
    places_ = std::vector<Place>();
    free_ = kNone;
    lines_ = boost::unordered_flat_map<Key, Line>();
  }

  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable many_;
  std::vector<Place> places_;
  std::uint32_t free_ = kNone;
  boost::unordered_flat_map<Key, Line> lines_;
  /// The keys that have items, in the order of their turns.
  std::deque<Key> turns_;
  std::size_t size_ = 0;
  std::size_t weight_ = 0;  // of all items
  std::size_t wanted_ = 0;  // the weight that the consumer waits for; 0: it does not wait
  bool closed_ = false;
};

}  // namespace skua
