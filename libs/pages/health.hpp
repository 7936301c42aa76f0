#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "pages/database_state.hpp"
#include "pages/process_state.hpp"
#include "store/database_problem.hpp"

namespace skua::pages {

/// From when on an observation is a problem.
struct HealthLimits {
  /// A source without a connection. A shorter interruption is normal.
  std::chrono::seconds down{5};
  /// A connected source without a message.
  std::chrono::seconds silent{45};
  std::chrono::seconds behind{60};
  /// A collection without an event, while others have some.
  std::chrono::seconds quiet{std::chrono::minutes(10)};
  /// How long an event that cannot be undone counts: missing events, a refused account.
  std::chrono::seconds remembered{std::chrono::hours(1)};
  /// A database that does not answer.
  std::chrono::seconds unanswered{5};
  /// A full lock table is normal for a moment: large batches are divided.
  std::chrono::seconds locks{30};
  /// Failed requests to the PLC directory in a row, the last of them within this time.
  std::uint64_t directory_failures = 5;
  std::chrono::seconds directory{std::chrono::minutes(5)};
};

/// All that the state of health follows from.
struct Observed {
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Outage {
    /// How long it lasts.
    std::chrono::seconds lasts{0};
    std::string reason;
  };

  TimePoint now{};
  ProcessState process = {};
  std::optional<Outage> outage = std::nullopt;
  /// How long a question to the database has waited for its answer; nothing: none waits.
  std::optional<std::chrono::milliseconds> unanswered = std::nullopt;
  /// What the statements of the process met.
  std::vector<store::DatabaseProblem> database_problems = {};
  /// Nothing: the database has not answered.
  std::optional<DatabaseState> database = std::nullopt;
  std::vector<std::string> quiet_collections = {};
  /// When messages of an account were refused last; nothing: never.
  std::optional<TimePoint> cut_off_at = std::nullopt;
};

/// A problem with what was measured.
struct Reason {
  const Problem* problem = nullptr;
  std::string detail = {};
  /// The source or consumer that it concerns; empty: the whole process.
  std::string subject = {};
  /// What to do, where this is more precise than the cure of the problem; empty: that cure.
  std::string cure = {};
};

struct Health {
  ProcessState::Phase phase = ProcessState::Phase::Running;
  /// Why the process is not ready.
  std::vector<Reason> reasons;
  /// What a person should look at, while the process works.
  std::vector<Reason> warnings;

  bool is_ready() const { return phase == ProcessState::Phase::Running && reasons.empty(); }
  /// Of the reasons, then of the warnings; each code once.
  std::vector<std::string_view> codes() const;
  /// Whether a reason or warning has this code.
  bool has(std::string_view code) const;
};

/// Pure.
Health judge(const Observed& observed, const HealthLimits& limits);

/// All problems that `judge` can report, in the order of the list of problems.
std::vector<const Problem*> judged_problems();

}  // namespace skua::pages
