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

/// What one host (the relay, or a PDS) has published: messages under its own numbers, the newest
/// `window_bytes` of them, as a relay keeps its last hours. One thread.
class MessageLog final : public FrameSource {
 public:
  /// `first_seq`: the number of the first message; `stride`: how far the numbers stand apart.
  explicit MessageLog(std::size_t window_bytes, std::int64_t first_seq = 1, std::int64_t stride = 1)
      : window_bytes_(window_bytes), stride_(stride), next_seq_(first_seq) {}

  /// Numbers a message and wakes who waits for it. Returns its seq (0: it has none).
  std::int64_t publish(std::shared_ptr<const Message> message);
  /// Publishes under the number of the message before: a host that repeats itself.
  std::int64_t publish_with_last_seq(std::shared_ptr<const Message> message);
  /// The next message skips `count` numbers.
  void skip_numbers(std::int64_t count) { next_seq_ += count; }
  /// The host was rebuilt from the hosts behind it: what it kept it has again, under new numbers
  /// from 1, at new positions. Only where the old numbers were higher can a reader tell.
  /// Returns what became of the old numbers.
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
