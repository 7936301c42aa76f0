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

/// Returns the problem of the server that an error shows: the server cannot be reached, is
/// read-only, or lacks disk space, locks or connections. Returns null for another error.
const Problem* problem_of(const SqlError& error);

/// Returns the problem of an outage, from the reason of the failed attempt to connect. A server
/// that waits to be promoted is read-only; any other server cannot be reached.
const Problem& problem_of_outage(std::string_view reason);

/// A problem of the server that statements meet repeatedly.
struct DatabaseProblem {
  using TimePoint = std::chrono::steady_clock::time_point;

  const Problem* problem = nullptr;
  /// The text of the latest error.
  std::string detail;
  TimePoint first;
  TimePoint last;
};

/// Remembers the problems of the server that the statements of all sessions of a process met. After
/// half a minute without the problem, the next occurrence counts as a new problem. Bounded to one
/// entry for each problem of the list. Any thread.
class DatabaseProblems {
 public:
  using TimePoint = DatabaseProblem::TimePoint;

  static constexpr std::chrono::seconds kGap{30};

  /// Notes a failed statement. Has no effect if the error shows no problem of the server.
  void met(const SqlError& error, TimePoint now);

  /// Returns the problems that statements met within the last `kGap`, sorted by code.
  std::vector<DatabaseProblem> current(TimePoint now) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string_view, DatabaseProblem> met_;
};

/// Returns the instance of this process, to which all sessions report.
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

  /// Notes that an attempt to connect, which started at `began`, failed.
  void attempt_failed(Timestamp began, const std::string& reason);
  void connected();
  /// Notes that a caller continues to retry, so that the outage is logged.
  void retrying();

  std::optional<Outage> current() const;

 private:
  const Clock& clock_;
  const Log log_;
  mutable std::mutex mutex_;
  std::optional<Outage> outage_;
  /// The time of the last log line, or nothing if there was none.
  std::optional<Timestamp> logged_at_;
  /// The problem in the last log line.
  const Problem* logged_problem_ = nullptr;
  bool was_connected_ = false;
};

/// Returns the instance of this process, to which all sessions report.
OutageMonitor& outage_monitor();

/// Logs that `what` failed and is retried. If the server could not be reached, the outage monitor
/// logs the outage, and this line has the level debug.
void log_retry(const std::string& component, std::string_view what, const SqlError& error);

}  // namespace skua::postgres
