#include "message_log.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace skua::sim {

std::int64_t MessageLog::publish(std::shared_ptr<const Message> message) {
  const bool has_seq = message->seq_at.has_value();
  if (!has_seq) return append(std::move(message), 0);
  const std::int64_t seq = next_seq_;
  next_seq_ += stride_;
  return append(std::move(message), seq);
}

std::int64_t MessageLog::publish_with_last_seq(std::shared_ptr<const Message> message) {
  const auto last = last_seq();
  if (!message->seq_at || !last) return publish(std::move(message));
  return append(std::move(message), *last);
}

std::vector<RenumberedRun> MessageLog::restart_numbers() {
  std::vector<RenumberedRun> runs;
  first_ = end();
  next_seq_ = 1;
  for (Entry& entry : entries_) {
    if (!entry.message->seq_at) continue;
    if (runs.empty() || entry.seq != runs.back().old_first + runs.back().count) {
      runs.push_back({entry.seq, next_seq_, 0});
    }
    ++runs.back().count;
    entry.seq = next_seq_++;
  }
  // Waiters for a position beyond the old end find a frame now.
  wake_waiters();
  return runs;
}

std::int64_t MessageLog::append(std::shared_ptr<const Message> message, std::int64_t seq) {
  bytes_ += message->bytes.size();
  entries_.push_back({std::move(message), seq});
  // The newest message stays, however large it is, for the readers that wait for it.
  while (bytes_ > window_bytes_ && entries_.size() > 1) {
    bytes_ -= entries_.front().message->bytes.size();
    entries_.pop_front();
    ++first_;
  }
  wake_waiters();
  return seq;
}

void MessageLog::wake_waiters() {
  // Woken readers may wait again, or cancel other waiters. So the list is moved away first, and
  // each waiter is checked before it is called.
  for (auto& weak : std::exchange(waiters_, {})) {
    const auto waiter = weak.lock();
    if (!waiter) continue;
    if (end() > waiter->position) {
      std::exchange(waiter->wake, nullptr)();
    } else {
      waiters_.push_back(std::move(weak));
    }
  }
}

std::shared_ptr<const Bytes> MessageLog::frame(std::uint64_t position) const {
  const Entry& entry = entries_[position - first_];
  if (!entry.message->seq_at) return {entry.message, &entry.message->bytes};
  return std::make_shared<const Bytes>(numbered(*entry.message, entry.seq));
}

std::optional<std::int64_t> MessageLog::seq(std::uint64_t position) const {
  const Entry& entry = entries_[position - first_];
  return entry.message->seq_at ? std::optional(entry.seq) : std::nullopt;
}

std::uint64_t MessageLog::position_after(std::int64_t cursor, bool inclusive) const {
  const auto past = [&](const Entry& entry) {
    return entry.message->seq_at && (entry.seq > cursor || (inclusive && entry.seq == cursor));
  };
  const auto found = std::find_if(entries_.begin(), entries_.end(), past);
  return first_ + static_cast<std::uint64_t>(found - entries_.begin());
}

std::optional<std::int64_t> MessageLog::first_seq() const {
  for (const Entry& entry : entries_) {
    if (entry.message->seq_at) return entry.seq;
  }
  return std::nullopt;
}

std::optional<std::int64_t> MessageLog::last_seq() const {
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if (entry->message->seq_at) return entry->seq;
  }
  return std::nullopt;
}

FrameSource::Token MessageLog::when_past(std::uint64_t position, std::function<void()> wake) {
  const auto waiter = std::make_shared<Waiter>(Waiter{position, std::move(wake)});
  if (end() > position) {
    std::exchange(waiter->wake, nullptr)();
  } else {
    waiters_.push_back(waiter);
  }
  return waiter;
}

}  // namespace skua::sim
