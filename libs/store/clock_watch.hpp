#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "store/lazy_session.hpp"
#include "store/runtime.hpp"
#include "store/server_clock.hpp"
#include "store/session_thread.hpp"

namespace skua::store {

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

}  // namespace skua::store
