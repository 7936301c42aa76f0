#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "base/time.hpp"
#include "postgres/session.hpp"
#include "postgres/sql_error.hpp"

namespace skua::postgres {

/// The problem of the server that an error shows: the server cannot be reached, is read-only, or
/// lacks disk space, locks or connections. Null: another error.
const Problem* problem_of(const SqlError& error);

/// The problem of an outage, by the reason of the failed attempt to connect: a server that waits to
/// be promoted is read-only, any other cannot be reached.
const Problem& problem_of_outage(std::string_view reason);

/// A problem of the server while statements meet it repeatedly.
struct DatabaseProblem {
  using TimePoint = std::chrono::steady_clock::time_point;

  const Problem* problem = nullptr;
  /// The latest error.
  std::string detail;
  TimePoint first;
  TimePoint last;
};

/// Remembers which problems of the server the statements of all sessions of a process met. After
/// half a minute without the problem the next one counts as a new problem. Bounded: one entry for
/// each problem of the list. Any thread.
class DatabaseProblems {
 public:
  using TimePoint = DatabaseProblem::TimePoint;

  static constexpr std::chrono::seconds kGap{30};

  /// A statement failed. No effect if the error shows no problem of the server.
  void met(const SqlError& error, TimePoint now);

  /// The problems that statements met within the last `kGap`, by code.
  std::vector<DatabaseProblem> current(TimePoint now) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string_view, DatabaseProblem> met_;
};

/// The instance of this process; all sessions report to it.
DatabaseProblems& database_problems();

/// A time during which the database server could not be reached.
struct Outage {
  /// The start of the first failed attempt to connect.
  Timestamp since;
  /// The reason of the latest failure.
  std::string reason;
};

/// Tracks whether the database server is available, for all sessions of a process. An outage begins
/// when an attempt to connect fails, and ends when one succeeds. A broken session is not an outage
/// if the next connection succeeds. While a caller retries, the log has a line when an outage
/// begins, when its problem changes, every minute, and when it ends. Any thread.
class OutageMonitor {
 public:
  /// Receives the log lines.
  struct Log {
    std::function<void(const std::string&)> warn;
    std::function<void(const std::string&)> info;
  };

  OutageMonitor(const Clock& clock, Log log);

  /// An attempt to connect that started at `began` failed.
  void attempt_failed(Timestamp began, const std::string& reason);
  void connected();
  /// A caller keeps retrying, so the outage is logged.
  void retrying();

  std::optional<Outage> current() const;

 private:
  const Clock& clock_;
  const Log log_;
  mutable std::mutex mutex_;
  std::optional<Outage> outage_;
  /// The time of the last log line; nothing: there was none.
  std::optional<Timestamp> logged_at_;
  /// The problem of that line.
  const Problem* logged_problem_ = nullptr;
  bool was_connected_ = false;
};

/// The instance of this process; all sessions report to it.
OutageMonitor& outage_monitor();

/// Logs that `what` failed and is retried. If the server could not be reached, the outage monitor
/// logs the outage, and this line has level debug.
void log_retry(const std::string& component, std::string_view what, const SqlError& error);

}  // namespace skua::postgres
