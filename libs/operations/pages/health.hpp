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

/// The limits from which an observation is a problem.
struct HealthLimits {
  /// The time of a source without a connection. A shorter interruption is normal.
  std::chrono::seconds down{5};
  /// The time of a connected source without a message.
  std::chrono::seconds silent{45};
  std::chrono::seconds behind{60};
  /// The time of a collection without an event while other collections have events.
  std::chrono::seconds quiet{std::chrono::minutes(10)};
  /// The time for which an event that cannot be undone counts, such as missing events or a refused
  /// account.
  std::chrono::seconds remembered{std::chrono::hours(1)};
  /// The time of a database without an answer.
  std::chrono::seconds unanswered{5};
  /// The time of a full lock table. A shorter time is normal, because large batches are divided.
  std::chrono::seconds locks{30};
  /// The number of successive failed requests to the PLC directory, the last of which failed within
  /// the time below.
  std::uint64_t directory_failures = 5;
  std::chrono::seconds directory{std::chrono::minutes(5)};
};

/// The observations from which the state of health follows.
struct Observed {
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Outage {
    /// The duration of the outage so far.
    std::chrono::seconds lasts{0};
    std::string reason;
  };

  TimePoint now{};
  ProcessState process = {};
  std::optional<Outage> outage = std::nullopt;
  /// The time for which a query has waited for the answer of the database; nothing if none waits.
  std::optional<std::chrono::milliseconds> unanswered = std::nullopt;
  /// The problems of the statements of this process.
  std::vector<postgres::DatabaseProblem> database_problems = {};
  /// The state of the database; nothing if the database has not answered.
  std::optional<DatabaseState> database = std::nullopt;
  std::vector<std::string> quiet_collections = {};
  /// The time at which messages of an account were last refused; nothing if none were.
  std::optional<TimePoint> cut_off_at = std::nullopt;
};

/// A problem with its measured values.
struct Reason {
  const Problem* problem = nullptr;
  std::string detail = {};
  /// The source or consumer with the problem; empty if the whole process has it.
  std::string subject = {};
  /// A more precise cure than that of the problem; if it is empty, the cure of the problem applies.
  std::string cure = {};
};

struct Health {
  ProcessState::Phase phase = ProcessState::Phase::Running;
  /// The reasons why the process is not ready.
  std::vector<Reason> reasons;
  /// The warnings that a person should look at while the process works.
  std::vector<Reason> warnings;

  bool is_ready() const { return phase == ProcessState::Phase::Running && reasons.empty(); }
  /// Returns the codes of the reasons, then of the warnings. Each code occurs once.
  std::vector<std::string_view> codes() const;
  /// Returns whether a reason or warning has this code.
  bool has(std::string_view code) const;
};

/// Judges the health of a process. Pure.
Health judge(const Observed& observed, const HealthLimits& limits);

/// Returns all problems that `judge` can report, in the order of the list of problems.
std::vector<const Problem*> judged_problems();

/// Returns the answer of `/health/ready`: 200 or 503 with `status` (`ready`, `not-ready`,
/// `starting`, `stopping`), `reasons` and `warnings`. Reasons and warnings are objects with `code`,
/// `title`, `detail` and `cure`. Pure.
http_server::Response ready_response(const Health& health);

/// Returns `skua_problem` for each problem that `judge` can report: 1 if it is a reason or a
/// warning, otherwise 0.
std::vector<status::LabelledMetric> problem_metrics(const Health& health);

/// Returns the declaration of `skua_problem`.
pipeline::MetricDeclaration problem_metric_declaration();

/// Logs the beginning and the end of each reason or warning that no other part of the program logs
/// with its code, such as the lag of a source. Reasons of different sources and consumers are
/// logged separately. One thread.
class ReasonLog {
 public:
  using Write = std::function<void(const std::string&)>;

  /// `warn` and `info` receive the lines.
  ReasonLog(Write warn, Write info) : warn_(std::move(warn)), info_(std::move(info)) {}
  /// Writes the lines to the log.
  ReasonLog();

  /// Compares the current reasons with the logged ones. If `is_complete` is set, missing reasons
  /// have ended.
  void update(const Health& health, bool is_complete = true);

 private:
  const Write warn_;
  const Write info_;
  /// The key has a code, and the subject of the reason.
  using Key = std::pair<std::string_view, std::string>;
  std::set<Key> logged_;
};

}  // namespace skua::pages
