#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "frame_source.hpp"
#include "message.hpp"

namespace skua::sim {

/// Successive messages whose numbers changed from old_first, old_first + 1, ... to new_first, ...
struct RenumberedRun {
  std::int64_t old_first = 0;
  std::int64_t new_first = 0;
  std::int64_t count = 0;
};

/// The published messages of one host (the relay, or a PDS), with its numbers: the newest
/// `window_bytes` of them, as a relay keeps the last hours. One thread.
class MessageLog final : public FrameSource {
 public:
  /// `first_seq`: the number of the first message; `stride`: the difference between numbers.
  explicit MessageLog(std::size_t window_bytes, std::int64_t first_seq = 1, std::int64_t stride = 1)
      : window_bytes_(window_bytes), stride_(stride), next_seq_(first_seq) {}

  /// Numbers a message and wakes its waiters. Returns its seq (0: it has none).
  std::int64_t publish(std::shared_ptr<const Message> message);
  /// Publishes with the number of the previous message, for a host that repeats itself.
  std::int64_t publish_with_last_seq(std::shared_ptr<const Message> message);
  /// The next message skips `count` numbers.
  void skip_numbers(std::int64_t count) { next_seq_ += count; }
  /// Simulates a host that was rebuilt from its upstream hosts: it has the same messages with new
  /// numbers from 1, at new positions. A reader notices this only if the old numbers were higher.
  /// Returns the mapping from old to new numbers.
  std::vector<RenumberedRun> restart_numbers();

  std::uint64_t begin() const override { return first_; }
  std::uint64_t end() const override { return first_ + entries_.size(); }
  bool grows() const override { return true; }
  std::shared_ptr<const Bytes> frame(std::uint64_t position) const override;
  std::optional<std::int64_t> seq(std::uint64_t position) const override;
  std::uint64_t position_after(std::int64_t cursor, bool inclusive) const override;
  std::optional<std::int64_t> first_seq() const override;
  std::optional<std::int64_t> last_seq() const override;
  Token when_past(std::uint64_t position, std::function<void()> wake) override;

 private:
  struct Entry {
    std::shared_ptr<const Message> message;
    std::int64_t seq;
  };
  struct Waiter {
    std::uint64_t position;
    std::function<void()> wake;
  };
  void wake_waiters();
  std::int64_t append(std::shared_ptr<const Message> message, std::int64_t seq);

  const std::size_t window_bytes_;
  const std::int64_t stride_;
  std::deque<Entry> entries_;
  std::uint64_t first_ = 0;
  std::size_t bytes_ = 0;
  std::int64_t next_seq_;
  std::deque<std::weak_ptr<Waiter>> waiters_;
};

}  // namespace skua::sim
