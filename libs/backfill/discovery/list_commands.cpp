#include "backfill/discovery/list_commands.hpp"

#include <initializer_list>
#include <span>
#include <string>

#include "backfill/discovery/list_commands.sql.hpp"

namespace skua::backfill {

namespace {

std::size_t change_lists(store::Session& session, const store::Statement& statement,
                         const JobFilter& filter, std::initializer_list<JobState> states,
                         Timestamp now) {
  if (!filter.dids.empty()) return 0;
  const std::span<const JobState> chosen =
      filter.states.empty() ? std::span(states.begin(), states.size()) : std::span(filter.states);
  const auto names = store::column(chosen, [](JobState state) { return to_string(state); });
  return session.execute(statement, names, filter.host, now).affected();
}

}  // namespace

std::size_t retry_lists(store::Session& session, const JobFilter& filter, Timestamp now) {
  return change_lists(session, sql::backfill_lists_retry, filter,
                      {JobState::Queued, JobState::Failed}, now);
}

std::size_t cancel_lists(store::Session& session, const JobFilter& filter, Timestamp now) {
  return change_lists(session, sql::backfill_lists_cancel, filter,
                      {JobState::Queued, JobState::Running}, now);
}

}  // namespace skua::backfill
