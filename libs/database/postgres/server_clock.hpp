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

/// PostgreSQL's time at this moment (`clock_timestamp()`). Throws SqlError.
Timestamp server_time(Session& session);

/// PostgreSQL's clock, which all processes of a database share. It is read regularly and advanced
/// by the steady clock, so that a jump of the local clock does not move it. For times that several
/// processes store and compare, such as leases. Any thread.
class ServerClock final : public Clock {
 public:
  /// Starts at the current time of `ours` until the first comparison. `ours` must outlive it.
  explicit ServerClock(const Clock& ours);

  /// Reads the server's clock. A reading that took longer than two seconds is ignored, unless it is
  /// the first. Throws SqlError.
  void compare(Session& session);

  Timestamp now() const override;

  /// How far it is ahead of our clock now; negative: behind; nothing: it was never compared.
  std::optional<std::chrono::microseconds> ahead() const;

 private:
  void set(Timestamp now, std::chrono::microseconds steady);

  const Clock& ours_;
  /// The offset to the steady clock, in microseconds.
  std::atomic<std::int64_t> offset_{0};
  std::atomic<bool> compared_{false};
};

/// The later of two clocks, so that a slow clock has no effect while the other one is right. Both
/// must outlive it.
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

/// How our clock compares with PostgreSQL's: `10 min behind`, `45 s ahead of`; nothing if they
/// agree. `server_ahead`: how far PostgreSQL's clock is ahead of ours.
std::optional<std::string> clock_difference_text(std::chrono::microseconds server_ahead);

/// Compares our clock with PostgreSQL's at the start and every minute. If they differ, it logs this
/// at once, when the difference changes, and every ten minutes. Has a thread and a connection of
/// its own, from construction to destruction. Never fails.
class ClockWatch {
 public:
  struct Options {
    std::string database_url;
    std::chrono::milliseconds interval{60'000};
    /// Receives the warnings; empty: they go to the log.
    std::function<void(const std::string&)> warn = {};
    std::function<void(const std::string&)> info = {};
  };

  /// Compares once, unless the server cannot be reached. `clock` must outlive it.
  ClockWatch(Options options, const Clock& clock);

  /// PostgreSQL's clock.
  const Clock& server() const { return server_; }
  /// The later of PostgreSQL's clock and ours.
  const Clock& latest() const { return latest_; }
  /// Both.
  Clocks clocks() const { return {latest_, server_}; }
  /// How far PostgreSQL's clock is ahead of ours; nothing: unknown. Any thread.
  std::optional<std::chrono::microseconds> server_ahead() const { return server_.ahead(); }

 private:
  void look(LazySession& session);
  void tell(std::chrono::microseconds ahead);

  const Options options_;
  /// Its own, because that of the process has the clocks of this object.
  Runtime runtime_;
  ServerClock server_;
  const LaterClock latest_;
  // Used by the thread only, after construction.
  std::optional<std::chrono::microseconds> logged_difference_;
  std::chrono::steady_clock::time_point logged_at_;
  SessionThread thread_;
};

}  // namespace skua::postgres
