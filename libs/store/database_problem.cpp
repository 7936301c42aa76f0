#include "store/database_problem.hpp"

#include "store/database_watch.hpp"
#include "store/sqlstate.hpp"

namespace skua::store {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
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
  // Other memory of the server has the same SQLSTATE.
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

}  // namespace skua::store
