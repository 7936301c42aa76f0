#include "backfill/discovery/list_table.hpp"

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "backfill/discovery/list_table.sql.hpp"
#include "postgres/sql_error.hpp"

namespace skua::backfill {

namespace {

using postgres::Session;

/// A row of backfill_hosts_lease.
struct LeasedListRow {
  std::string host;
  std::string what;
  bool is_operator_specified;
  std::optional<std::int64_t> announced;
  std::optional<std::string> cursor;
  std::int64_t listed;
  Timestamp begun_at;
};

/// Returns the seconds for which the host asked to wait.
std::int64_t seconds_of(std::chrono::seconds asked) {
  return std::max<std::int64_t>(asked.count(), 0);
}

std::size_t change_lists(postgres::Session& session, const postgres::Statement& statement,
                         const JobFilter& filter, std::initializer_list<JobState> states,
                         Timestamp now) {
  if (!filter.dids.empty()) return 0;
  const std::span<const JobState> chosen =
      filter.states.empty() ? std::span(states.begin(), states.size()) : std::span(filter.states);
  const auto names = postgres::column(chosen, [](JobState state) { return to_string(state); });
  return session.execute(statement, names, filter.host, now).affected();
}

/// A row of backfill_hosts_counts.
struct CountedLists {
  std::string what;
  std::string state;
  std::int64_t lists;
  std::int64_t listed;
};

/// A row of backfill_hosts_errors.
struct ListErrorRow {
  std::string host;
  std::string what;
  bool is_operator_specified;
  std::string state;
  std::string reason;
  Timestamp next_attempt;
};

ListState list_state(std::string_view text) {
  if (text == "listing") return ListState::Listing;
  if (text == "listed") return ListState::Listed;
  if (text == "failed") return ListState::Failed;
  return text == "cancelled" ? ListState::Cancelled : ListState::None;
}

}  // namespace

std::vector<LeasedList> lease_lists(Session& session, std::size_t limit,
                                    const JobLeaseRequest& request, ListPurpose purpose) {
  std::vector<LeasedList> lists;
  for (LeasedListRow& row : session.query<LeasedListRow>(
           sql::backfill_hosts_lease, request.now, request.now + request.duration, request.owner,
           limit, purpose == ListPurpose::Audit)) {
    lists.push_back({.list = {std::move(row.host), std::move(row.what), row.is_operator_specified,
                              row.announced},
                     .cursor = std::move(row.cursor),
                     .listed = row.listed,
                     .begun_at = row.begun_at});
  }
  return lists;
}

bool save_page(Session& session, const HostList& list,
               const std::optional<std::string>& next_cursor, std::int64_t entries,
               const JobLeaseRequest& request) {
  return session
             .execute(sql::backfill_hosts_save_page, list.host, list.what, next_cursor, entries,
                      request.owner, request.now, request.now + request.duration)
             .affected() == 1;
}

bool list_failed(Session& session, const HostList& list, const std::string& reason,
                 std::chrono::seconds asked, const std::string& lease_owner, Timestamp now,
                 int max_attempts) {
  std::vector<std::int64_t> delays;
  for (int attempt = 1; attempt <= std::max(max_attempts, 1); ++attempt) {
    delays.push_back(job_delay(attempt).count());
  }
  const auto state = session.query_first<std::string>(
      sql::backfill_hosts_failed, list.host, list.what, lease_owner, now, delays,
      postgres::error_text(reason), seconds_of(asked), max_attempts);
  return state != "failed";
}

void list_postponed(Session& session, const HostList& list, const std::string& reason,
                    std::chrono::seconds asked, const std::string& lease_owner, Timestamp now) {
  session.execute(sql::backfill_hosts_postponed, list.host, list.what, lease_owner, now,
                  postgres::error_text(reason), seconds_of(asked));
}

std::size_t release_lists(Session& session, const std::string& lease_owner, Timestamp now) {
  return session.execute(sql::backfill_hosts_release, lease_owner, now).affected();
}

std::size_t reclaim_orphan_lists(Session& session, Timestamp now) {
  return session.execute(sql::backfill_hosts_orphans, now).affected();
}

std::optional<Timestamp> next_page_due(Session& session, ListPurpose purpose) {
  return session.query_one<std::optional<Timestamp>>(sql::backfill_hosts_next,
                                                     purpose == ListPurpose::Audit);
}

std::size_t retry_lists(postgres::Session& session, const JobFilter& filter, Timestamp now) {
  return change_lists(session, sql::backfill_lists_retry, filter,
                      {JobState::Queued, JobState::Failed}, now);
}

std::size_t cancel_lists(postgres::Session& session, const JobFilter& filter, Timestamp now) {
  return change_lists(session, sql::backfill_lists_cancel, filter,
                      {JobState::Queued, JobState::Running}, now);
}

std::map<std::string, ListCounts> list_counts(Session& session, ListPurpose purpose) {
  std::map<std::string, ListCounts> counts;
  for (const CountedLists& row :
       session.query<CountedLists>(sql::backfill_hosts_counts, purpose == ListPurpose::Audit)) {
    ListCounts& kind = counts[row.what];
    kind.lists[list_state(row.state)] = row.lists;
    kind.listed += row.listed;
  }
  return counts;
}

std::vector<ListError> list_errors(Session& session, std::size_t limit, ListPurpose purpose) {
  std::vector<ListError> errors;
  for (ListErrorRow& row : session.query<ListErrorRow>(sql::backfill_hosts_errors, limit,
                                                       purpose == ListPurpose::Audit)) {
    errors.push_back({{std::move(row.host), std::move(row.what), row.is_operator_specified},
                      list_state(row.state),
                      std::move(row.reason),
                      row.next_attempt});
  }
  return errors;
}

std::int64_t lists_abandoned_since(Session& session, Timestamp since) {
  return session.query_one<std::int64_t>(sql::backfill_hosts_abandoned_since, since);
}

}  // namespace skua::backfill
