#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "atproto/tid.hpp"
#include "base/time.hpp"
#include "event/frame_decoder.hpp"
#include "pipeline/admitted_message.hpp"
#include "pipeline/intake_counters.hpp"

namespace skua::pipeline {

/// The times that a message states.
struct MessageDates {
  /// The revision of the repository; nothing: the message has none.
  std::optional<atproto::Tid> rev;
  /// When the message was made; the epoch: it does not say.
  Timestamp time{};
};

/// Those of a relay's frame.
MessageDates dates_of(const event::FramePeek& frame);

/// Distinguishes a revision in the future from a local clock that is slow. A message whose revision
/// and time are far ahead of the local clock holds the messages of its decoder, in order. The
/// messages behind it decide:
/// - as many accounts in the present as in the future: the local clock is right. All messages pass,
///   and the decoder drops those in the future.
/// - several accounts in the future, and fewer in the present: the local clock is wrong. The
/// messages
///   stay until the clock has reached their times; this is logged. The in-flight list bounds them,
///   and the cursor stays before them.
/// - neither within a minute: all messages pass.
/// An attacker needs more accounts than all others together to hold a stream.
///
/// No I/O except the log. One thread, its decoder's. `clock` and `intake` outlive it.
class FutureGate {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// As many accounts ahead of the local clock make it count as wrong.
  static constexpr std::size_t kSeveral = 5;
  /// How long fewer accounts hold the messages.
  static constexpr std::chrono::minutes kHoldTime{1};
  /// How often to call `release` while messages are held.
  static constexpr std::chrono::milliseconds kTick{250};

  FutureGate(const Clock& clock, IntakeCounters& intake) : clock_(clock), intake_(intake) {}
  ~FutureGate();
  FutureGate(const FutureGate&) = delete;
  FutureGate& operator=(const FutureGate&) = delete;

  /// True: the message passes. False: it was taken, and `release` returns it later.
  bool pass(AdmittedMessage& message, const MessageDates& dates, SteadyTime now);

  /// The messages that pass now, in order.
  std::vector<AdmittedMessage> release(SteadyTime now);

  /// The number of held messages.
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
  // Hashes of the accounts since the first held message.
  boost::unordered_flat_set<std::uint64_t> ahead_;
  boost::unordered_flat_set<std::uint64_t> present_;
  SteadyTime began_;
  /// When the wrong clock was logged last; nothing: it was not.
  std::optional<SteadyTime> told_at_;
};

}  // namespace skua::pipeline
