#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "store/sql_error.hpp"

namespace skua::store {

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

}  // namespace skua::store
