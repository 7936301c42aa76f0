#include "backfill/discovery/list_leases.hpp"

#include <algorithm>
#include <utility>

#include "store/error_text.hpp"
#include "backfill/discovery/list_leases.sql.hpp"

namespace skua::backfill {
namespace {

using store::Array;
using store::Params;
using store::Rows;
using store::Session;
using store::Statement;

Params params_of(const HostList& list, const std::string& lease_owner, Timestamp now) {
  Params params;
  params.text(list.host).text(list.what).text(lease_owner).timestamp(now);
  return params;
}

}  // namespace

std::vector<LeasedList> lease_lists(Session& session, std::size_t limit,
                                    const LeaseRequest& request, ListPurpose purpose) {
  Params params;
  params.timestamp(request.now).timestamp(request.now + request.duration).text(request.owner);
  params.int8(static_cast<std::int64_t>(limit)).boolean(purpose == ListPurpose::Audit);
  const Rows rows = session.execute(sql::backfill_hosts_lease, params);
  std::vector<LeasedList> lists;
  lists.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    LeasedList leased;
    leased.list = {std::string(rows.text(i, 0)), std::string(rows.text(i, 1)), rows.boolean(i, 4)};
    if (!rows.is_null(i, 5)) leased.list.announced = rows.int8(i, 5);
    if (!rows.is_null(i, 2)) leased.cursor = rows.text(i, 2);
    leased.listed = rows.int8(i, 3);
    leased.begun_at = Timestamp(std::chrono::microseconds(rows.int8(i, 6)));
    lists.push_back(std::move(leased));
  }
  return lists;
}

bool save_page(Session& session, const HostList& list,
               const std::optional<std::string>& next_cursor, std::int64_t entries,
               const LeaseRequest& request) {
  Params params;
  params.text(list.host).text(list.what);
  next_cursor ? params.text(*next_cursor) : params.null();
  params.int8(entries)
      .text(request.owner)
      .timestamp(request.now)
      .timestamp(request.now + request.duration);
  return session.execute(sql::backfill_hosts_save_page, params).affected() == 1;
}

bool list_failed(Session& session, const HostList& list, const std::string& reason,
                 std::chrono::seconds asked, const std::string& lease_owner, Timestamp now,
                 int max_attempts) {
  Array delays(Array::Type::int8);
  for (int attempt = 1; attempt <= std::max(max_attempts, 1); ++attempt) {
    delays.int8(job_delay(attempt).count());
  }
  Params params = params_of(list, lease_owner, now);
  params.array(delays).text(store::error_text(reason));
  params.int8(std::max<std::int64_t>(asked.count(), 0)).int4(max_attempts);
  const Rows rows = session.execute(sql::backfill_hosts_failed, params);
  return rows.empty() || rows.text(0, 0) != "failed";
}

void list_postponed(Session& session, const HostList& list, const std::string& reason,
                    std::chrono::seconds asked, const std::string& lease_owner, Timestamp now) {
  Params params = params_of(list, lease_owner, now);
  params.text(store::error_text(reason)).int8(std::max<std::int64_t>(asked.count(), 0));
  session.execute(sql::backfill_hosts_postponed, params);
}

std::size_t release_lists(Session& session, const std::string& lease_owner, Timestamp now) {
  Params params;
  params.text(lease_owner).timestamp(now);
  return session.execute(sql::backfill_hosts_release, params).affected();
}

std::size_t reclaim_orphan_lists(Session& session, Timestamp now) {
  Params params;
  params.timestamp(now);
  return session.execute(sql::backfill_hosts_orphans, params).affected();
}

std::optional<Timestamp> next_page_due(Session& session, ListPurpose purpose) {
  Params params;
  params.boolean(purpose == ListPurpose::Audit);
  const Rows rows = session.execute(sql::backfill_hosts_next, params);
  if (rows.is_null(0, 0)) return std::nullopt;
  return Timestamp(std::chrono::microseconds(rows.int8(0, 0)));
}

}  // namespace skua::backfill
