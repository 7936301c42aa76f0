#include "world/message_log.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "repo/car.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::sim {

namespace {

using repo::CborWriter;

/// Writes the header of a message, and the fields in the order of the calls, which must be the
/// order of DAG-CBOR.
class MessageWriter {
 public:
  MessageWriter(std::string_view type, std::string_view did, std::size_t fields)
      : cbor_(message_.bytes) {
    message_.did = did;
    cbor_.map(2);
    cbor_.string("t");
    cbor_.string(type);
    cbor_.string("op");
    cbor_.integer(1);
    cbor_.map(fields);
  }

  /// Leaves a gap for the value of `seq`, which the host inserts.
  void seq() {
    cbor_.string("seq");
    message_.seq_at = message_.bytes.size();
  }
  void text(std::string_view key, std::string_view value) {
    cbor_.string(key);
    cbor_.string(value);
  }
  void time(Timestamp time) { text("time", format_datetime(time)); }
  void boolean(std::string_view key, bool value) {
    cbor_.string(key);
    cbor_.boolean(value);
  }
  void bytes(std::string_view key, ByteView value) {
    cbor_.string(key);
    cbor_.bytes(value);
  }
  CborWriter& field(std::string_view key) {
    cbor_.string(key);
    return cbor_;
  }

  Message take() { return std::move(message_); }

 private:
  Message message_;
  CborWriter cbor_;
};

void write_op(CborWriter& cbor, const CommitOp& op) {
  cbor.map(op.prev ? 4 : 3);
  cbor.string("cid");
  if (op.cid) {
    cbor.link(*op.cid);
  } else {
    cbor.null();
  }
  cbor.string("path");
  cbor.string(op.path);
  if (op.prev) {
    cbor.string("prev");
    cbor.link(*op.prev);
  }
  cbor.string("action");
  cbor.string(op.action);
}

Bytes car_of(const CommitFrame& commit) {
  constexpr std::size_t kFraming = 40;
  std::size_t size = 2 * kFraming;
  for (const auto& [cid, block] : commit.blocks) size += block.size() + kFraming;
  Bytes car;
  car.reserve(size);
  const std::array roots = {commit.commit};
  repo::CarWriter writer(car, roots);
  for (const auto& [cid, block] : commit.blocks) writer.block(cid, block);
  return car;
}

}  // namespace

Message commit_message(const CommitFrame& commit) {
  constexpr std::size_t kFieldsOfFirst = 11;
  MessageWriter writer("#commit", commit.did, kFieldsOfFirst + (commit.prev_data ? 1 : 0));
  CborWriter& ops = writer.field("ops");
  ops.list(commit.ops.size());
  for (const CommitOp& op : commit.ops) write_op(ops, op);
  writer.text("rev", commit.rev);
  writer.seq();
  writer.text("repo", commit.did);
  writer.time(commit.time);
  writer.field("blobs").list(0);
  if (commit.since) {
    writer.text("since", *commit.since);
  } else {
    writer.field("since").null();
  }
  writer.bytes("blocks", car_of(commit));
  writer.field("commit").link(commit.commit);
  writer.boolean("rebase", false);
  writer.boolean("tooBig", false);
  if (commit.prev_data) writer.field("prevData").link(*commit.prev_data);
  return writer.take();
}

Message sync_message(std::string_view did, Timestamp time, std::string_view rev,
                     ByteView commit_block) {
  MessageWriter writer("#sync", did, 5);
  writer.text("did", did);
  writer.text("rev", rev);
  writer.seq();
  writer.time(time);
  const atproto::Cid root = atproto::Cid::of(commit_block);
  const std::array roots = {root};
  Bytes car;
  repo::CarWriter(car, roots).block(root, commit_block);
  writer.bytes("blocks", car);
  return writer.take();
}

Message identity_message(std::string_view did, Timestamp time, std::string_view handle) {
  MessageWriter writer("#identity", did, 4);
  writer.text("did", did);
  writer.seq();
  writer.time(time);
  writer.text("handle", handle);
  return writer.take();
}

Message account_message(std::string_view did, Timestamp time, bool active,
                        std::string_view status) {
  MessageWriter writer("#account", did, status.empty() ? 4 : 5);
  writer.text("did", did);
  writer.seq();
  writer.time(time);
  writer.boolean("active", active);
  if (!status.empty()) writer.text("status", status);
  return writer.take();
}

Bytes numbered(const Message& message, std::int64_t seq) {
  if (!message.seq_at) return message.bytes;
  constexpr std::size_t kMaxNumber = 9;
  const auto gap = message.bytes.begin() + static_cast<std::ptrdiff_t>(*message.seq_at);
  Bytes frame;
  frame.reserve(message.bytes.size() + kMaxNumber);
  frame.assign(message.bytes.begin(), gap);
  repo::CborWriter(frame).integer(seq);
  frame.insert(frame.end(), gap, message.bytes.end());
  return frame;
}

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
  // The renumbered messages have positions beyond the old end, so waiters for such a position find
  // a frame now.
  wake_waiters();
  return runs;
}

std::int64_t MessageLog::append(std::shared_ptr<const Message> message, std::int64_t seq) {
  bytes_ += message->bytes.size();
  entries_.push_back({std::move(message), seq});
  // The newest message is kept even if it exceeds the window, because readers wait for it.
  while (bytes_ > window_bytes_ && entries_.size() > 1) {
    bytes_ -= entries_.front().message->bytes.size();
    entries_.pop_front();
    ++first_;
  }
  wake_waiters();
  return seq;
}

void MessageLog::wake_waiters() {
  // Woken readers may wait again, or cancel other waiters. The list is therefore moved away first,
  // and each waiter is checked before it is called.
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
