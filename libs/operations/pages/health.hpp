#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem.hpp"
#include "http_server/exchange.hpp"
#include "pages/database_page.hpp"
#include "pages/process_status.hpp"
#include "pipeline/metrics.hpp"
#include "postgres/outage.hpp"
#include "status/metrics_text.hpp"

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
  std::vector<postgres::DatabaseProblem> database_problems = {};
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

/// The answer of `/health/ready`: 200 or 503 with `status` (`ready`, `not-ready`, `starting`,
/// `stopping`), `reasons` and `warnings`. Each of these is an object with `code`, `title`, `detail`
/// and `cure`. Pure.
http_server::Response ready_response(const Health& health);

/// `skua_problem` for each problem that `judge` can report: 1 if it is a reason or a warning.
std::vector<status::LabelledMetric> problem_metrics(const Health& health);

/// Its declaration.
pipeline::MetricDeclaration problem_metric_declaration();

/// Logs when a reason or warning appears that no other part of the program logs with its code, such
/// as the lag of a source, and when it ends: each source and consumer for itself. One thread.
class ReasonLog {
 public:
  using Write = std::function<void(const std::string&)>;

  /// `warn` and `info` receive the lines.
  ReasonLog(Write warn, Write info) : warn_(std::move(warn)), info_(std::move(info)) {}
  /// Writes the lines to the log.
  ReasonLog();

  /// Passes the current reasons. `is_complete`: reasons that are missing have ended.
  void update(const Health& health, bool is_complete = true);

 private:
  const Write warn_;
  const Write info_;
  /// A code, and the subject of the reason.
  using Key = std::pair<std::string_view, std::string>;
  std::set<Key> logged_;
};

}  // namespace skua::pages
