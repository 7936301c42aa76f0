#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace skua::sources {

/// Finds cursors for the relays that are not read. Each relay has sequence numbers of its own, so
/// the positions are derived:
///
///   time t: a live frame of a standby has seq s. The standby has sent everything up to s.
///   time t + margin: the active relay has sent all these events too, because the margin is longer
///       than the propagation skew between relays. A live frame of the active relay has seq a.
///   When everything up to a of the active relay is durable, so is everything up to s of the
///   standby.
///
/// This relies on the local clock only, and holds however much the active relay lags. No I/O; one
/// thread.
class StandbyPositions {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::milliseconds;

  /// `margin`: the maximum propagation skew between relays.
  StandbyPositions(std::size_t relays, Duration margin);

  /// A live frame of a standby, received `now`, has the number `seq`.
  void seen(std::size_t relay, std::int64_t seq, TimePoint now);

  /// Whether a position waits for the number of the active relay.
  bool wants_head(TimePoint now) const;
  /// A probe of the active relay, started at `asked_at`, received `seq`.
  void head(std::int64_t seq, TimePoint asked_at);

  /// Everything up to `seq` of the active relay is durable. Returns the newest position of `relay`
  /// that is therefore durable; nothing: none that was not known.
  std::optional<std::int64_t> durable(std::size_t relay, std::int64_t seq);

  /// The oldest position of a relay in this run, if no position is known to be durable.
  std::optional<std::int64_t> oldest_seen(std::size_t relay) const;

  /// Another relay is active, or the active one has reset its sequence numbers: positions that wait
  /// cannot be confirmed any more.
  void forget_waiting();
  /// This relay has reset its sequence numbers.
  void forget(std::size_t relay);

 private:
  struct Position {
    std::int64_t seq = 0;
    TimePoint at;
    /// The number of the active relay that must be durable first.
    std::optional<std::int64_t> head;
  };
  struct Relay {
    std::deque<Position> waiting;  // the oldest first
    std::optional<std::int64_t> oldest;
  };

  const Duration margin_;
  std::vector<Relay> relays_;
};

}  // namespace skua::sources
