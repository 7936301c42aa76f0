#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "atproto/tid.hpp"
#include "base/bounded_queue.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"
#include "ingest/decode_thread.hpp"
#include "ingest/intake_counters.hpp"

namespace skua::ingest {

/// What a message says of its time.
struct MessageDates {
  /// Of the repository; nothing: the message has none.
  std::optional<atproto::Tid> rev;
  /// When it was made; the epoch: it does not say.
  Timestamp time{};
};

/// Those of a relay's frame, without decoding it.
MessageDates dates_of_frame(ByteView frame);

/// Tells a revision that lies in the future from a clock of ours that is behind. A revision far
/// ahead, with a message time to match, stops the messages of a decoder: they are kept in their
/// order, and only looked at. What comes behind it decides:
/// - as many accounts of the present as of the future: our clock is right. All go on, and the
///   decoder drops what lies in the future.
/// - several accounts of the future, and fewer of the present: our clock is wrong. Nothing goes on
///   before the clock says that it may, and that is logged. The in-flight list bounds what is kept;
///   the cursor stays before it.
/// - neither within a minute: all go on.
/// Whoever makes accounts needs more of them than there are others to stop a stream.
///
/// No I/O but the log. One thread, its decoder's. `clock` and `intake` outlive it.
class FutureGate {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// Different accounts ahead of our clock, from which on it counts as wrong.
  static constexpr std::size_t kSeveral = 5;
  /// How long fewer are waited for.
  static constexpr std::chrono::minutes kLook{1};
  /// While messages are held `release` is to be called this often.
  static constexpr std::chrono::milliseconds kTick{250};

  FutureGate(const Clock& clock, IntakeCounters& intake) : clock_(clock), intake_(intake) {}
  ~FutureGate();
  FutureGate(const FutureGate&) = delete;
  FutureGate& operator=(const FutureGate&) = delete;

  /// True: the message goes on. False: it was taken, and comes from `release`.
  bool pass(AdmittedMessage& message, const MessageDates& dates, SteadyTime now);

  /// What may go on now, in the order of its arrival.
  std::vector<AdmittedMessage> release(SteadyTime now);

  /// How many messages are held.
  std::size_t size() const { return held_.size(); }
  bool empty() const { return held_.empty(); }

 private:
  struct Held {
    AdmittedMessage message;
    MessageDates dates;
  };

  bool is_ahead(const MessageDates& dates) const;
  void tell(SteadyTime now);
  void take_first(std::vector<AdmittedMessage>& out);

  const Clock& clock_;
  IntakeCounters& intake_;
  std::deque<Held> held_;
  // Since the first of those that are held came: the accounts behind it, by hash.
  boost::unordered_flat_set<std::uint64_t> ahead_;
  boost::unordered_flat_set<std::uint64_t> present_;
  SteadyTime began_;
  /// When it was last logged that our clock is wrong; nothing: it was not.
  std::optional<SteadyTime> told_at_;
};

/// Takes what a decode thread does next off its queue, into `items`: an item; with `ticks` none
/// when none comes, so that the gate, or what else is held back, is looked at. False: the queue is
/// closed and empty.
template <class Item>
bool next_items(BoundedQueue<Item>& queue, bool ticks, std::vector<Item>& items) {
  items.clear();
  if (!ticks) {
    auto item = queue.pop();
    if (!item) return false;
    items.push_back(*std::move(item));
    return true;
  }
  return queue.pop_some(items, 1, FutureGate::kTick) > 0 || !queue.closed() || queue.size() > 0;
}

}  // namespace skua::ingest
