#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "pages/database_state.hpp"
#include "store/session_thread.hpp"

namespace skua::pages {

/// Reads the state of the database on a thread with a session of its own, when it is asked. An
/// answer counts for about a second: many questions cost one read. It repeats a read that failed
/// until the server answers. Owned by one thread.
class DatabaseReader {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// `fresh_for`: how long an answer counts.
  explicit DatabaseReader(store::Runtime& runtime,
                          std::chrono::milliseconds fresh_for = std::chrono::seconds(1));

  void start() { thread_.start(); }
  /// Idempotent.
  void stop();

  /// The latest state. If it is older than `fresh_for`, a read begins, and this waits at most
  /// `patience` for its end. Nothing: the server has never answered, or the last read failed. Any
  /// thread.
  std::optional<DatabaseState> get(std::chrono::milliseconds patience);

  /// How long the read that was asked for has taken; nothing: none is. Any thread.
  std::optional<std::chrono::milliseconds> unanswered(TimePoint now) const;

 private:
  std::chrono::milliseconds round(store::LazySession& session);

  const std::chrono::milliseconds fresh_for_;
  mutable std::mutex mutex_;
  std::condition_variable_any answered_;
  std::optional<DatabaseState> state_;
  std::optional<TimePoint> read_at_;
  /// When the current read was asked for.
  std::optional<TimePoint> asked_at_;
  /// Reads that ended, also those that failed.
  std::uint64_t reads_ = 0;
  /// The last error that was logged; empty: the last read succeeded. The thread's.
  std::string logged_;
  store::SessionThread thread_;
};

}  // namespace skua::pages
