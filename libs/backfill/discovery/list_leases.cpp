#include "backfill/discovery/list_leases.hpp"

#include <algorithm>
#include <utility>

#include "store/error_text.hpp"

namespace skua::backfill {
namespace {

using store::Array;
using store::Params;
using store::Rows;
using store::Session;
using store::Statement;

const Statement kLeaseListing{
    "backfill_hosts_lease",
    "WITH due AS MATERIALIZED (SELECT host, what FROM skua.backfill_hosts "
    "WHERE state IN ('none', 'listing') AND next_attempt <= $1::timestamptz "
    "AND starts_with(what, 'audit:') = $5::boolean "
    "ORDER BY next_attempt LIMIT $4::int8 FOR UPDATE SKIP LOCKED) "
    "UPDATE skua.backfill_hosts AS h SET state = 'listing', next_attempt = $2::timestamptz, "
    "lease_owner = $3 FROM due WHERE h.host = due.host AND h.what = due.what "
    "RETURNING h.host, h.what, h.cursor, h.listed, h.is_operator_specified, h.announced, "
    "(extract(epoch FROM greatest(h.begun_at, to_timestamp(0))) * 1000000)::int8"};

const Statement kSavePage{
    "backfill_hosts_save_page",
    "UPDATE skua.backfill_hosts SET cursor = $3::text, listed = listed + $4::int8, attempts = 0, "
    "error = NULL, updated_at = $6::timestamptz, next_attempt = $7::timestamptz, "
    "state = CASE WHEN $3::text IS NULL THEN 'listed' ELSE 'listing' END, "
    "lease_owner = CASE WHEN $3::text IS NULL THEN NULL ELSE lease_owner END "
    "WHERE host = $1 AND what = $2 AND state = 'listing' AND lease_owner = $5"};

// $5: the delay after the nth failure, $8: the number of failures after which the list fails
// permanently.
const Statement kHostFailed{
    "backfill_hosts_failed",
    "UPDATE skua.backfill_hosts SET attempts = attempts + 1, error = $6, lease_owner = NULL, "
    "updated_at = $4::timestamptz, next_attempt = $4::timestamptz + make_interval(secs => "
    "$7::int8 + ($5::int8[])[least(attempts + 1, cardinality($5::int8[]))]), "
    "state = CASE WHEN attempts + 1 >= $8::int4 THEN 'failed' ELSE 'listing' END "
    "WHERE host = $1 AND what = $2 AND state = 'listing' AND lease_owner = $3 RETURNING state"};

const Statement kHostPostponed{
    "backfill_hosts_postponed",
    "UPDATE skua.backfill_hosts SET error = $5, lease_owner = NULL, updated_at = $4::timestamptz, "
    "next_attempt = $4::timestamptz + make_interval(secs => $6::int8) "
    "WHERE host = $1 AND what = $2 AND state = 'listing' AND lease_owner = $3"};

const Statement kReleaseHosts{"backfill_hosts_release",
                              "UPDATE skua.backfill_hosts SET lease_owner = NULL, "
                              "next_attempt = $2::timestamptz "
                              "WHERE state = 'listing' AND lease_owner = $1"};

const Statement kOrphans{
    "backfill_hosts_orphans",
    "UPDATE skua.backfill_hosts SET lease_owner = NULL, next_attempt = $1::timestamptz "
    "WHERE state = 'listing' AND lease_owner IS NOT NULL AND NOT EXISTS ("
    "SELECT FROM pg_stat_activity AS s WHERE s.datname = current_database() "
    "AND s.application_name = lease_owner)"};

const Statement kNextHost{"backfill_hosts_next",
                          "SELECT (extract(epoch FROM min(next_attempt)) * 1000000)::int8 "
                          "FROM skua.backfill_hosts WHERE state IN ('none', 'listing') "
                          "AND starts_with(what, 'audit:') = $1::boolean"};

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
  const Rows rows = session.execute(kLeaseListing, params);
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
  return session.execute(kSavePage, params).affected() == 1;
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
  const Rows rows = session.execute(kHostFailed, params);
  return rows.empty() || rows.text(0, 0) != "failed";
}

void list_postponed(Session& session, const HostList& list, const std::string& reason,
                    std::chrono::seconds asked, const std::string& lease_owner, Timestamp now) {
  Params params = params_of(list, lease_owner, now);
  params.text(store::error_text(reason)).int8(std::max<std::int64_t>(asked.count(), 0));
  session.execute(kHostPostponed, params);
}

std::size_t release_lists(Session& session, const std::string& lease_owner, Timestamp now) {
  Params params;
  params.text(lease_owner).timestamp(now);
  return session.execute(kReleaseHosts, params).affected();
}

std::size_t reclaim_orphan_lists(Session& session, Timestamp now) {
  Params params;
  params.timestamp(now);
  return session.execute(kOrphans, params).affected();
}

std::optional<Timestamp> next_page_due(Session& session, ListPurpose purpose) {
  Params params;
  params.boolean(purpose == ListPurpose::Audit);
  const Rows rows = session.execute(kNextHost, params);
  if (rows.is_null(0, 0)) return std::nullopt;
  return Timestamp(std::chrono::microseconds(rows.int8(0, 0)));
}

}  // namespace skua::backfill
