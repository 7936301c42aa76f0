#pragma once

#include <chrono>
#include <functional>

namespace skua::transport {

/// Calculates the wait before the next attempt to connect. The wait is an exponential backoff with
/// full jitter, so that the consumers of a relay that restarts do not all reconnect at once. No
/// I/O, no clock of its own; one thread.
class ReconnectPolicy {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::milliseconds;

  struct Options {
    /// The longest delay after the first failure. Each further failure doubles the delay.
    Duration first = std::chrono::seconds(1);
    /// The upper limit of the delay.
    Duration longest = std::chrono::seconds(60);
    /// A connection that received messages for at least this long resets the backoff. An open
    /// connection is not enough: a relay that accepts a connection and then sends nothing still
    /// counts as failing.
    Duration healthy_after = std::chrono::seconds(30);
  };

  /// `random` returns uniformly distributed numbers in [0, 1).
  ReconnectPolicy(const Options& options, std::function<double()> random);

  /// The connection was established.
  void connected(TimePoint now);
  /// A message arrived.
  void received(TimePoint now) { last_message_ = now; }
  /// The connection ended, or an attempt failed. Returns the wait, between 0 and `longest`.
  Duration failed();

 private:
  const Options options_;
  const std::function<double()> random_;
  Duration ceiling_;
  TimePoint connected_at_;
  TimePoint last_message_;
};

}  // namespace skua::transport
