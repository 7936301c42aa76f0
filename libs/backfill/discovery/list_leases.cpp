#include "backfill/discovery/list_leases.hpp"

#include <algorithm>
#include <utility>

#include "backfill/discovery/list_leases.sql.hpp"
#include "store/error_text.hpp"

namespace skua::backfill {

namespace {

using store::Session;

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

/// The seconds for which the host asked to wait.
std::int64_t seconds_of(std::chrono::seconds asked) {
  return std::max<std::int64_t>(asked.count(), 0);
}

}  // namespace

std::vector<LeasedList> lease_lists(Session& session, std::size_t limit,
                                    const LeaseRequest& request, ListPurpose purpose) {
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
               const LeaseRequest& request) {
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
      store::error_text(reason), seconds_of(asked), max_attempts);
  return state != "failed";
}

void list_postponed(Session& session, const HostList& list, const std::string& reason,
                    std::chrono::seconds asked, const std::string& lease_owner, Timestamp now) {
  session.execute(sql::backfill_hosts_postponed, list.host, list.what, lease_owner, now,
                  store::error_text(reason), seconds_of(asked));
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

}  // namespace skua::backfill
