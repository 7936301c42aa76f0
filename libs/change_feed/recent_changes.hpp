#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "change_feed/change_event.hpp"
#include "change_feed/log_pages.hpp"

namespace skua::change_feed {

/// The most recent changes, which all clients read. Not thread-safe.
class RecentChanges {
 public:
  /// It forgets the oldest changes beyond this memory.
  explicit RecentChanges(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Forgets everything; the next change has this position.
  void restart(std::int64_t next) {
    changes_.clear();
    bytes_ = 0;
    end_ = next;
    time_us_ = 0;
  }

  /// Appends the changes from `end()` on, all of them.
  void append(ChangePage page) {
    for (auto& event : page.events) {
      bytes_ += event->bytes();
      changes_.push_back(std::move(event));
    }
    end_ = page.next;
    time_us_ = page.time_us;
    while (bytes_ > max_bytes_) {
      bytes_ -= changes_.front()->bytes();
      changes_.pop_front();
    }
  }

  /// The positions from `begin()` to before `end()` are here.
  std::int64_t begin() const { return end_ - static_cast<std::int64_t>(changes_.size()); }
  std::int64_t end() const { return end_; }
  /// `time_us` of the last change.
  std::int64_t time_us() const { return time_us_; }
  std::size_t bytes() const { return bytes_; }

  /// At most `count` changes from a position on, which is not before `begin()`.
  std::vector<std::shared_ptr<const ChangeEvent>> from(std::int64_t position,
                                                       std::size_t count) const {
    std::vector<std::shared_ptr<const ChangeEvent>> result;
    if (position >= end_) return result;
    const auto first = static_cast<std::size_t>(position - begin());
    count = std::min(count, changes_.size() - first);
    result.reserve(count);
    for (std::size_t i = 0; i < count; ++i) result.push_back(changes_[first + i]);
    return result;
  }

 private:
  const std::size_t max_bytes_;
  std::deque<std::shared_ptr<const ChangeEvent>> changes_;
  std::size_t bytes_ = 0;
  std::int64_t end_ = 1;
  std::int64_t time_us_ = 0;
};

}  // namespace skua::change_feed
