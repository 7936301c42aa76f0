#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "store/lazy_session.hpp"
#include "store/server_clock.hpp"
#include "store/session_thread.hpp"

namespace skua::store {

/// From this difference on clocks count as different.
inline constexpr std::chrono::seconds kClocksAgree{5};

/// `10 min behind`, `45 s ahead of`: what ours is of PostgreSQL's; nothing while they agree.
/// `server_ahead`: how far PostgreSQL's clock is ahead of ours.
std::optional<std::string> clock_difference_text(std::chrono::microseconds server_ahead);

/// Compares our clock with PostgreSQL's at the start and every minute, and logs that they differ:
/// at once, when the difference changes, and every ten minutes. A thread and a connection of its
/// own, from construction to destruction. Never fails.
class ClockWatch {
 public:
  struct Options {
    std::string database_url;
    std::chrono::milliseconds interval{60'000};
    /// Where the words go; empty: the log.
    std::function<void(const std::string&)> warn = {};
    std::function<void(const std::string&)> info = {};
  };

  /// Compares once, unless the server cannot be asked. `clock` outlives it.
  ClockWatch(Options options, const Clock& clock);

  /// PostgreSQL's.
  const Clock& server() const { return server_; }
  /// The later of PostgreSQL's and ours.
  const Clock& latest() const { return latest_; }
  /// How far PostgreSQL's clock is ahead of ours; nothing: not known. Any thread.
  std::optional<std::chrono::microseconds> server_ahead() const { return server_.ahead(); }

 private:
  void look(LazySession& session);
  void tell(std::chrono::microseconds ahead);

  const Options options_;
  ServerClock server_;
  const LaterClock latest_;
  // The thread's own, after construction.
  std::optional<std::chrono::microseconds> told_;
  std::chrono::steady_clock::time_point told_at_;
  SessionThread thread_;
};

}  // namespace skua::store
