#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "postgres/runtime.hpp"
#include "postgres/session.hpp"
#include "postgres/session_thread.hpp"

namespace skua::postgres {

/// Returns PostgreSQL's current time (`clock_timestamp()`). Throws SqlError.
Timestamp server_time(Session& session);

/// PostgreSQL's clock, which all processes of a database share. The clock is read regularly and
/// advanced by the steady clock, so that a jump of the local clock does not move it. For times that
/// several processes store and compare, such as leases. Any thread.
class ServerClock final : public Clock {
 public:
  /// Returns the time of `ours` until the first comparison. `ours` must outlive this object.
  explicit ServerClock(const Clock& ours);

  /// Reads the server's clock. A reading that took longer than two seconds is ignored, unless it is
  /// the first reading. Throws SqlError.
  void compare(Session& session);

  Timestamp now() const override;

  /// Returns how far the server's clock is ahead of ours (negative if behind), or nothing before
  /// the first comparison.
  std::optional<std::chrono::microseconds> ahead() const;

 private:
  void set(Timestamp now, std::chrono::microseconds steady);

  const Clock& ours_;
  /// The offset to the steady clock, in microseconds.
  std::atomic<std::int64_t> offset_{0};
  std::atomic<bool> compared_{false};
};

/// The later of two clocks, so that a slow clock has no effect while the other clock is right. Both
/// clocks must outlive this object.
class LaterClock final : public Clock {
 public:
  LaterClock(const Clock& one, const Clock& other) : one_(one), other_(other) {}
  Timestamp now() const override { return std::max(one_.now(), other_.now()); }

 private:
  const Clock& one_;
  const Clock& other_;
};

/// Clocks that differ by less than this count as equal.
inline constexpr std::chrono::seconds kClocksAgree{5};

/// Describes our clock in comparison with PostgreSQL's: `10 min behind`, `45 s ahead of`. Returns
/// nothing if they agree. `server_ahead` is the time by which PostgreSQL's clock is ahead of ours.
std::optional<std::string> clock_difference_text(std::chrono::microseconds server_ahead);

/// Compares our clock with PostgreSQL's at the start and every minute. If they differ, the
/// difference is logged at once, when it changes, and every ten minutes. Has a thread and a
/// connection of its own, from construction to destruction. Never fails.
class ClockWatch {
 public:
  struct Options {
    std::string database_url;
    std::chrono::milliseconds interval{60'000};
    /// Receives the warnings. If empty, they go to the log.
    std::function<void(const std::string&)> warn = {};
    std::function<void(const std::string&)> info = {};
  };

  /// Compares once, unless the server cannot be reached. `clock` must outlive this object.
  ClockWatch(Options options, const Clock& clock);

  /// PostgreSQL's clock.
  const Clock& server() const { return server_; }
  /// The later of PostgreSQL's clock and ours.
  const Clock& latest() const { return latest_; }
  /// Returns `latest` and `server`.
  Clocks clocks() const { return {latest_, server_}; }
  /// Returns the time by which PostgreSQL's clock is ahead of ours, or nothing if it is unknown.
  /// Any thread.
  std::optional<std::chrono::microseconds> server_ahead() const { return server_.ahead(); }

 private:
  void look(LazySession& session);
  void tell(std::chrono::microseconds ahead);

  const Options options_;
  /// A separate Runtime, because the Runtime of the process has the clocks of this object.
  Runtime runtime_;
  ServerClock server_;
  const LaterClock latest_;
  // Only the thread uses these members after construction.
  std::optional<std::chrono::microseconds> logged_difference_;
  std::chrono::steady_clock::time_point logged_at_;
  SessionThread thread_;
};

}  // namespace skua::postgres
