#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace skua::sources {

/// How far relays that are not read may be said to have been read. Each numbers what it sends for
/// itself, so that this is found out:
///
///   a frame of the other relay, live: it had sent all up to its seq s before this moment t
///   t + margin: whatever lag there is between them, the active one has sent all that by now;
///               a frame of it, live: that is all up to its seq a
///   all up to a is durable: so is all up to s of the other one
///
/// Nobody's clock but our own is believed, and it does not matter how far behind the reading of the
/// active relay is. No I/O; one thread.
class StandbyPositions {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::milliseconds;

  /// `margin`: the most that a relay may have a thing later than another.
  StandbyPositions(std::size_t relays, Duration margin);

  /// A relay that is not active had got to `seq` when a live frame of it came, `now`.
  void seen(std::size_t relay, std::int64_t seq, TimePoint now);

  /// Whether some position waits for where the active relay stands.
  bool wants_head(TimePoint now) const;
  /// A live frame of the active relay: a connection without a cursor, begun at `asked_at`, got
  /// `seq` first.
  void head(std::int64_t seq, TimePoint asked_at);

  /// All of the active relay up to `seq` is durable. What follows of the relay: the newest position
  /// that is durable as well; nothing: none that was not known.
  std::optional<std::int64_t> durable(std::size_t relay, std::int64_t seq);

  /// The oldest position that was seen of a relay in this run, for want of one that is known to be
  /// durable.
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
    /// Where the active one must be.
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
