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
  /// The revision of the repository, or nothing if the message has none.
  std::optional<atproto::Tid> rev;
  /// The time at which the message was made. It is the epoch if the message has no time.
  Timestamp time{};
};

/// Returns the dates of a relay's frame.
MessageDates dates_of(const event::FramePeek& frame);

/// Distinguishes a revision in the future from a local clock that is slow. A message whose revision
/// and time are far ahead of the local clock holds the messages of its decoder, in order. The
/// messages behind it decide between three cases.
///
/// If they have as many accounts in the present as in the future, the local clock is right. All
/// messages pass, and the decoder drops the messages in the future.
///
/// If they have several accounts in the future, and fewer in the present, the local clock is wrong.
/// The messages stay until the clock has reached their times, which is logged. The in-flight list
/// bounds the held messages, and the cursor stays before them.
///
/// If neither is the case within a minute, all messages pass.
///
/// To hold a stream, an attacker needs more accounts than all others together.
///
/// The gate does no I/O except for the log. Its decoder's thread uses it. `clock` and `intake`
/// outlive it.
class FutureGate {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// The number of accounts ahead of the local clock from which the clock counts as wrong.
  static constexpr std::size_t kSeveral = 5;
  /// The time for which fewer accounts hold the messages.
  static constexpr std::chrono::minutes kHoldTime{1};
  /// The interval at which `release` must be called while messages are held.
  static constexpr std::chrono::milliseconds kTick{250};

  FutureGate(const Clock& clock, IntakeCounters& intake) : clock_(clock), intake_(intake) {}
  ~FutureGate();
  FutureGate(const FutureGate&) = delete;
  FutureGate& operator=(const FutureGate&) = delete;

  /// Returns true if the message passes. If it returns false, it has taken the message, and
  /// `release` returns the message later.
  bool pass(AdmittedMessage& message, const MessageDates& dates, SteadyTime now);

  /// Returns the messages that pass now, in order.
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
  /// The time at which the wrong clock was last logged, or nothing if it was not logged.
  std::optional<SteadyTime> told_at_;
};

}  // namespace skua::pipeline
