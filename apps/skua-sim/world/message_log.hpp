#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "atproto/cid.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"

namespace skua::sim {

/// Frames in the order in which a relay or PDS sends them: a capture, or the messages that a
/// simulated host has published so far. Positions count from 0 since the host started and are never
/// reused; frames before `begin()` have been discarded. One thread.
class FrameSource {
 public:
  virtual ~FrameSource() = default;

  virtual std::uint64_t begin() const = 0;
  virtual std::uint64_t end() const = 0;
  /// Returns true if `end()` may still grow.
  virtual bool grows() const = 0;

  /// Returns the frame with its seq. `position` is in [begin(), end()). The bytes are valid while
  /// the pointer exists.
  virtual std::shared_ptr<const Bytes> frame(std::uint64_t position) const = 0;
  /// Returns the seq; nothing if the frame has none (as #info), or is unreadable.
  virtual std::optional<std::int64_t> seq(std::uint64_t position) const = 0;

  /// Returns the first kept position whose seq is greater than `cursor` or, with `inclusive`, not
  /// less than `cursor`; `end()` if there is none.
  virtual std::uint64_t position_after(std::int64_t cursor, bool inclusive) const = 0;
  virtual std::optional<std::int64_t> first_seq() const = 0;
  virtual std::optional<std::int64_t> last_seq() const = 0;

  /// Calls `wake` once when `end()` has grown past `position`, or at once if it already has.
  /// Destroying the returned token cancels the call.
  using Token = std::shared_ptr<void>;
  virtual Token when_past(std::uint64_t position, std::function<void()> wake) = 0;
};

/// A subscribeRepos message before a host has numbered it (atproto.com/specs/sync): relay and PDS
/// send the same message with different seqs.
struct Message {
  /// The frame without the value of `seq`.
  Bytes bytes;
  /// The position of the value of `seq` in `bytes`; nothing if the message has no seq (#info).
  std::optional<std::size_t> seq_at;
  /// The account; empty for #info.
  std::string did;
  /// False for a dishonest message, which a verifying reader drops.
  bool honest = true;
};

/// Returns the frame with its number.
Bytes numbered(const Message& message, std::int64_t seq);

/// Successive messages whose numbers changed from old_first, old_first + 1, ... to new_first, ...
struct RenumberedRun {
  std::int64_t old_first = 0;
  std::int64_t new_first = 0;
  std::int64_t count = 0;
};

/// The published messages of one host (the relay, or a PDS) with its numbers. The newest
/// `window_bytes` of messages are kept, as a relay keeps the last hours. One thread.
class MessageLog final : public FrameSource {
 public:
  /// `first_seq` is the number of the first message, and `stride` is the difference between
  /// successive numbers.
  explicit MessageLog(std::size_t window_bytes, std::int64_t first_seq = 1, std::int64_t stride = 1)
      : window_bytes_(window_bytes), stride_(stride), next_seq_(first_seq) {}

  /// Numbers a message and wakes its waiters. Returns its seq, or 0 if the message has none.
  std::int64_t publish(std::shared_ptr<const Message> message);
  /// Publishes a message with the number of the previous message, to simulate a host that repeats
  /// itself.
  std::int64_t publish_with_last_seq(std::shared_ptr<const Message> message);
  /// Lets the next message skip `count` numbers.
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

/// An op of a #commit message. `cid` is set in a create or update, and `prev` in an update or
/// delete.
struct CommitOp {
  std::string_view action;  // a literal
  std::string path;
  std::optional<atproto::Cid> cid;
  std::optional<atproto::Cid> prev;
};

/// The parts of a #commit message (atproto.com/specs/sync#commit), so that a single part can be
/// falsified. Blocks are stored under the CIDs that they claim to have.
struct CommitFrame {
  std::string did;
  Timestamp time;
  std::string rev;
  std::optional<std::string> since;
  std::optional<atproto::Cid> prev_data;
  /// The commit block's CID, which is the CAR's root too.
  atproto::Cid commit;
  std::vector<CommitOp> ops;
  /// The blocks: the commit, records and tree nodes.
  std::vector<std::pair<atproto::Cid, Bytes>> blocks;
};

Message commit_message(const CommitFrame& commit);

/// Returns a #sync message, which has the state of a repository. `commit` is the commit's block.
Message sync_message(std::string_view did, Timestamp time, std::string_view rev,
                     ByteView commit_block);

Message identity_message(std::string_view did, Timestamp time, std::string_view handle);

/// Returns an #account message. If `status` is empty, the message has no status.
Message account_message(std::string_view did, Timestamp time, bool active, std::string_view status);

}  // namespace skua::sim
