#pragma once

#include <chrono>
#include <functional>

namespace skua::transport {

/// Says how long to wait before the next attempt to connect: exponential backoff with full jitter,
/// so that the consumers of a relay that restarts do not come back all at once. No I/O, no clock of
/// its own; one thread.
class ReconnectPolicy {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::milliseconds;

  struct Options {
    /// The longest delay after the first failure; it doubles with each further one.
    Duration first = std::chrono::seconds(1);
    /// It never grows beyond this.
    Duration longest = std::chrono::seconds(60);
    /// A connection over which messages came for at least this long ends a row of failures. Merely
    /// being open does not: a relay that accepts and then says nothing is still failing.
    Duration healthy_after = std::chrono::seconds(30);
  };

  /// `random` gives numbers evenly spread over [0, 1).
  ReconnectPolicy(const Options& options, std::function<double()> random);

  /// A connection stands.
  void connected(TimePoint now);
  /// A message came over it.
  void received(TimePoint now) { last_message_ = now; }
  /// The connection ended, or an attempt failed: wait this long, between 0 and `longest`.
  Duration failed();

 private:
  const Options options_;
  const std::function<double()> random_;
  Duration ceiling_;
  TimePoint connected_at_;
  TimePoint last_message_;
};

}  // namespace skua::transport
