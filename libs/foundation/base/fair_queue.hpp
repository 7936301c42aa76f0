#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

namespace skua {

/// A queue in which keys take turns: the queue gives one item of each key that has items, then the
/// next item of each key, and so on. The items of a key keep their order. So a key with many items
/// delays only its own items. For one thread; FairQueue is for several threads.
///
/// With a limit for each key, an item is active from `take` to `finished`. A key whose active items
/// have reached the limit has no turn.
template <class T, class Key, class Hash = boost::hash<Key>>
class FairLines {
 public:
  static constexpr std::uint32_t kNoLimit = std::numeric_limits<std::uint32_t>::max();

  explicit FairLines(std::size_t active_of_one_key = kNoLimit)
      : most_active_(static_cast<std::uint32_t>(active_of_one_key)) {}

  void push(const Key& key, T item) { append(key, std::move(item), false); }
  /// Adds the item before the other items of its key.
  void push_first(const Key& key, T item) { append(key, std::move(item), true); }

  /// The number of keys that have a turn. While the number is not 0, `next`, `front`, `take` and
  /// `pass_over` may be called.
  std::size_t turns() const { return turns_.size(); }
  /// The key whose turn it is.
  const Key& next() const { return turns_.front(); }
  /// The first item of the key whose turn it is.
  const T& front() const { return places_[lines_.find(turns_.front())->second.first].item; }

  /// Removes the first item of the key whose turn it is. If the key may have another turn, the turn
  /// comes after those of the other keys.
  T take() {
    const auto place = lines_.find(turns_.front());
    turns_.pop_front();
    Line& line = place->second;
    line.has_turn = false;
    const std::uint32_t taken = line.first;
    T item = std::move(places_[taken].item);
    line.first = places_[taken].next;
    places_[taken].next = free_;
    free_ = taken;
    --size_;
    if (most_active_ != kNoLimit) ++line.active;
    settle(place);
    if (size_ == 0) release_memory();
    return item;
  }

  /// Moves the turn of the current key behind the turns of the other keys.
  void pass_over() {
    turns_.push_back(std::move(turns_.front()));
    turns_.pop_front();
  }

  /// Ends the activity of one item that was taken. With a limit, a call without an active item
  /// throws std::logic_error. Without a limit, a call has no effect.
  void finished(const Key& key) {
    if (most_active_ == kNoLimit) return;
    const auto place = lines_.find(key);
    if (place == lines_.end() || place->second.active == 0) {
      throw std::logic_error("an item finished that was not taken");
    }
    --place->second.active;
    settle(place);
  }

  /// The number of items that were not taken.
  std::size_t size() const { return size_; }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// An item and the place of the next item of its key. Unused places form a list in the same way.
  struct Place {
    T item;
    std::uint32_t next = kNone;
  };
  /// The items of a key.
  struct Line {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    std::uint32_t active = 0;
    bool has_turn = false;
  };
  using Lines = boost::unordered_flat_map<Key, Line, Hash>;

  void append(const Key& key, T&& item, bool is_first) {
    const std::uint32_t place = free_place(std::move(item));
    const auto line = lines_.try_emplace(key).first;
    if (line->second.first == kNone) {
      line->second.first = place;
      line->second.last = place;
    } else if (is_first) {
      places_[place].next = std::exchange(line->second.first, place);
    } else {
      places_[line->second.last].next = place;
      line->second.last = place;
    }
    ++size_;
    settle(line);
  }

  std::uint32_t free_place(T&& item) {
    if (free_ == kNone) {
      places_.push_back({std::move(item)});
      return static_cast<std::uint32_t>(places_.size() - 1);
    }
    const std::uint32_t place = free_;
    free_ = places_[place].next;
    places_[place].item = std::move(item);
    places_[place].next = kNone;
    return place;
  }

  /// Gives the key a turn if the key can use one, and removes a key that has neither waiting nor
  /// active items.
  void settle(typename Lines::iterator place) {
    Line& line = place->second;
    if (line.first == kNone) {
      if (line.active == 0) lines_.erase(place);
    } else if (!line.has_turn && line.active < most_active_) {
      line.has_turn = true;
      turns_.push_back(place->first);
    }
  }

  /// Releases memory after a large number of items was removed.
  void release_memory() {
    constexpr std::size_t kKept = 10'000;
    if (places_.size() <= kKept) return;
    places_ = std::vector<Place>();
    free_ = kNone;
    lines_.rehash(0);
  }

  const std::uint32_t most_active_;
  std::vector<Place> places_;
  std::uint32_t free_ = kNone;
  Lines lines_;
  /// The keys that have a turn, in the order of their turns.
  std::deque<Key> turns_;
  std::size_t size_ = 0;
};

/// A FairLines between threads: keys take turns. Any number of producers and one consumer may use
/// the queue. The queue has no limit, because its producers limit themselves. After `close()` the
/// queue accepts no items; the consumer receives the remaining items and then sees the end.
///
/// `Traits` has static functions of an item: `key` (a hash), `weight` (the item's part of the size
/// of a batch) and `cost` (in the unit of `Room::cost`). Keys with the same hash share their turns.
template <class T, class Traits>
class FairQueue {
 public:
  using Key = std::uint64_t;
  /// The keys that the consumer passes over. The value is ignored.
  using Skipped = boost::unordered_flat_map<Key, bool>;

  /// The limits of one removal: the consumer takes items until one of the sums reaches its limit.
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

  /// Appends items to `out` until one of the limits of `room` is reached. Waits at most `wait` for
  /// the first item and does not wait for further items. Takes at least one item, whatever its
  /// cost. Returns the sums of the items taken; a sum without weight means the end if `closed()` is
  /// true.
  Room pop_some(std::vector<T>& out, Room room, const Skipped& skipped,
                std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    filled_.wait_for(lock, wait, [&] { return closed_ || lines_.size() > 0; });
    Room taken{0, 0};
    // Counts the keys that were passed over since the last item. The loop ends when all remaining
    // keys were passed over.
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

  /// Waits until items of this total weight are in the queue, the queue is closed, or `wait` is
  /// over. The consumer does not wake up for each single item.
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
  /// The total weight of all items.
  std::size_t weight() const {
    const std::scoped_lock lock(mutex_);
    return weight_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable many_;
  FairLines<T, Key> lines_;
  std::size_t weight_ = 0;  // the total weight of all items
  std::size_t wanted_ = 0;  // the weight that the consumer waits for, or 0 if it does not wait
  bool closed_ = false;
};

}  // namespace skua
