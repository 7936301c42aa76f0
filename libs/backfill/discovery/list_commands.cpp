#include "backfill/discovery/list_commands.hpp"

#include <initializer_list>
#include <span>
#include <string>

namespace skua::backfill {
namespace {

using store::Params;
using store::Statement;

/// $1: states of jobs, $2: host or null, $3: now.
Statement list_command(const char* name, const std::string& where, const std::string& set) {
  return {
      name,
      "WITH hit AS MATERIALIZED (SELECT h.host, h.what FROM skua.backfill_hosts AS h "
      "WHERE CASE h.state WHEN 'none' THEN 'queued' WHEN 'listed' THEN 'done' "
      "WHEN 'listing' THEN CASE WHEN h.lease_owner IS NULL THEN 'queued' ELSE 'running' END "
      "ELSE h.state END = ANY ($1::text[]) AND ($2::text IS NULL OR h.host = $2::text) "
      "AND NOT starts_with(h.what, 'audit:') AND " +
          where +
          " ORDER BY h.host, h.what FOR UPDATE) "
          "UPDATE skua.backfill_hosts AS h SET lease_owner = NULL, updated_at = $3::timestamptz, " +
          set + " FROM hit WHERE h.host = hit.host AND h.what = hit.what"};
}

const Statement kRetryLists = list_command(
    "backfill_lists_retry",
    "(h.state NOT IN ('none', 'listing') OR (h.lease_owner IS NULL AND h.next_attempt > "
    "$3::timestamptz))",
    "state = CASE WHEN h.cursor IS NULL THEN 'none' ELSE 'listing' END, attempts = 0, "
    "error = NULL, next_attempt = $3::timestamptz");
const Statement kCancelLists =
    list_command("backfill_lists_cancel", "h.state <> 'cancelled'", "state = 'cancelled'");

std::size_t change_lists(store::Session& session, const Statement& statement,
                         const JobFilter& filter, std::initializer_list<JobState> states,
                         Timestamp now) {
  if (!filter.dids.empty()) return 0;
  store::Array names(store::Array::Type::text);
  const std::span<const JobState> chosen =
      filter.states.empty() ? std::span(states.begin(), states.size()) : std::span(filter.states);
  for (const JobState state : chosen) names.text(to_string(state));
  Params params;
  params.array(names);
  filter.host ? params.text(*filter.host) : params.null();
  params.timestamp(now);
  return session.execute(statement, params).affected();
}

}  // namespace

std::size_t retry_lists(store::Session& session, const JobFilter& filter, Timestamp now) {
  return change_lists(session, kRetryLists, filter, {JobState::Queued, JobState::Failed}, now);
}

std::size_t cancel_lists(store::Session& session, const JobFilter& filter, Timestamp now) {
  return change_lists(session, kCancelLists, filter, {JobState::Queued, JobState::Running}, now);
}

}  // namespace skua::backfill
