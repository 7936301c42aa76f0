#include "postgres/outage.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "postgres/database_watch.hpp"
#include "postgres/sql_error.hpp"

namespace skua::postgres {

namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

constexpr std::chrono::minutes kLineEvery{1};

std::string lasted(const Outage& outage, Timestamp now) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - outage.since);
  return duration_text(std::max(seconds, std::chrono::seconds(0)));
}

}  // namespace

const Problem& problem_of_outage(std::string_view reason) {
  return contains(reason, kWaitsForPromotion) ? problem("database-read-only")
                                              : problem("database-down");
}

const Problem* problem_of(const SqlError& error) {
  const std::string_view state = error.sqlstate();
  if (state == kReadOnly) return &problem("database-read-only");
  if (state == kDiskFull) return &problem("disk-full");
  // A lack of other memory of the server has the same SQLSTATE.
  if (state == kOutOfMemory) {
    return contains(error.what(), "shared memory") ? &problem("lock-table-full") : nullptr;
  }
  if (error.is_unreachable()) return &problem_of_outage(error.what());
  if (state.empty() || state == kTooManyConnections) return &problem("connections-full");
  return nullptr;
}

void DatabaseProblems::met(const SqlError& error, TimePoint now) {
  const Problem* const problem = problem_of(error);
  if (problem == nullptr) return;
  const std::scoped_lock lock(mutex_);
  DatabaseProblem& known = met_[problem->code];
  if (known.problem == nullptr || now - known.last > kGap) known = {problem, {}, now, now};
  known.detail = error.what();
  known.last = now;
}

std::vector<DatabaseProblem> DatabaseProblems::current(TimePoint now) const {
  const std::scoped_lock lock(mutex_);
  std::vector<DatabaseProblem> all;
  for (const auto& [code, known] : met_) {
    if (now - known.last <= kGap) all.push_back(known);
  }
  return all;
}

DatabaseProblems& database_problems() {
  static DatabaseProblems problems;
  return problems;
}

OutageMonitor::OutageMonitor(const Clock& clock, Log log) : clock_(clock), log_(std::move(log)) {}

void OutageMonitor::attempt_failed(Timestamp began, const std::string& reason) {
  const std::scoped_lock lock(mutex_);
  if (!outage_) outage_ = Outage{began, {}};
  outage_->reason = reason;
}

void OutageMonitor::connected() {
  const std::scoped_lock lock(mutex_);
  was_connected_ = true;
  if (!outage_) return;
  if (logged_at_) {
    log_.info(fmt::format("the database is back after {}", lasted(*outage_, clock_.now())));
  }
  outage_.reset();
  logged_at_.reset();
}

void OutageMonitor::retrying() {
  const std::scoped_lock lock(mutex_);
  if (!outage_) return;
  const Timestamp now = clock_.now();
  const Problem& problem = problem_of_outage(outage_->reason);
  std::string line;
  if (!logged_at_) {
    line = fmt::format("the database is down, retrying: {}{}", outage_->reason,
                       was_connected_ ? "" : " (is it up, and is the address right?)");
  } else if (now - *logged_at_ >= kLineEvery || logged_problem_ != &problem) {
    line = fmt::format("the database has been down for {}, retrying: {}", lasted(*outage_, now),
                       outage_->reason);
  } else {
    return;
  }
  log_.warn(with_code(line, problem));
  logged_problem_ = &problem;
  logged_at_ = now;
}

std::optional<Outage> OutageMonitor::current() const {
  const std::scoped_lock lock(mutex_);
  return outage_;
}

OutageMonitor& outage_monitor() {
  static OutageMonitor monitor(
      system_clock(), {.warn = [](const std::string& line) { logger("store")->warn("{}", line); },
                       .info = [](const std::string& line) { logger("store")->info("{}", line); }});
  return monitor;
}

void log_retry(const std::string& component, std::string_view what, const SqlError& error) {
  if (!error.is_unreachable()) {
    const Problem* const problem = problem_of(error);
    logger(component)->warn("{}, retrying: {}", what,
                            problem != nullptr ? with_code(error.what(), *problem) : error.what());
    return;
  }
  outage_monitor().retrying();
  logger(component)->debug("{}, retrying: {}", what, error.what());
}

}  // namespace skua::postgres
