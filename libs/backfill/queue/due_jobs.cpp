#include "backfill/queue/due_jobs.hpp"

#include <chrono>

#include "backfill/queue/impl/job_sql.hpp"
#include "store/first_column.hpp"
#include "backfill/queue/due_jobs.sql.hpp"

namespace skua::backfill {
namespace {

using store::Params;
using store::Rows;
using store::Session;
using store::Statement;

/// The earliest job of the next host after `host`, by name.
std::string first_after(const std::string& host) {
  return "(SELECT host, next_attempt FROM skua.backfill_jobs WHERE " + impl::kQueuedAtHost +
         " AND host > " + host + " ORDER BY host, next_attempt LIMIT 1)";
}

// Reads one index entry for each host, and none of the others.
const std::string kFirstOfEachHost =
    "WITH RECURSIVE first AS (" + first_after("$1") +
    " UNION ALL SELECT n.host, n.next_attempt FROM first CROSS JOIN LATERAL " +
    first_after("first.host") + " AS n) ";

const Statement kDueHosts{"backfill_jobs_due_hosts",
                          kFirstOfEachHost +
                              "SELECT host FROM first WHERE next_attempt <= $2::timestamptz "
                              "LIMIT $3::int8"};

std::string first_of(const std::string& which) {
  return "(SELECT next_attempt FROM skua.backfill_jobs WHERE " + which +
         " ORDER BY next_attempt LIMIT 1)";
}

const Statement kDueHostsOf{
    "backfill_jobs_due_hosts_of",
    "SELECT DISTINCT host FROM skua.backfill_jobs WHERE did = ANY ($1::text[]) AND " +
        impl::kQueuedAtHost + " AND next_attempt <= $2::timestamptz ORDER BY host"};

const Statement kNextDue{"backfill_jobs_next_due", kFirstOfEachHost +
                                                       "SELECT (extract(epoch FROM least("
                                                       "(SELECT min(next_attempt) FROM first), " +
                                                       first_of(impl::kQueuedWithoutHost) + ", " +
                                                       first_of(impl::kQueuedWithFile) +
                                                       ")) * 1000000)::int8"};

std::string exists(const std::string& which) {
  return "EXISTS (SELECT FROM skua.backfill_jobs WHERE " + which + ")";
}

const Statement kRemain{"backfill_jobs_remain", "SELECT " + exists(impl::kQueuedAtHost) + " OR " +
                                                    exists(impl::kQueuedWithoutHost) + " OR " +
                                                    exists(impl::kQueuedWithFile) + " OR " +
                                                    exists("state = 'running'")};

const Statement kRemainOf{
    "backfill_jobs_remain_of",
    "SELECT " + exists("did = ANY ($1::text[]) AND state IN ('queued', 'running')")};

}  // namespace

std::vector<std::string> due_hosts(Session& session, Timestamp now, std::size_t limit,
                                   const std::string& after) {
  Params params;
  params.text(after).timestamp(now).int8(static_cast<std::int64_t>(limit));
  return store::first_column(session.execute(kDueHosts, params));
}

std::vector<std::string> due_hosts_of(Session& session, std::span<const std::string> dids,
                                      Timestamp now) {
  Params params;
  params.array(impl::text_array(dids)).timestamp(now);
  return store::first_column(session.execute(kDueHostsOf, params));
}

std::optional<Timestamp> next_due(Session& session) {
  Params params;
  params.text("");
  const Rows rows = session.execute(kNextDue, params);
  if (rows.is_null(0, 0)) return std::nullopt;
  return Timestamp(std::chrono::microseconds(rows.int8(0, 0)));
}

bool jobs_remain(Session& session) {
  return session.execute(kRemain, {}).boolean(0, 0);
}

bool jobs_remain_of(Session& session, std::span<const std::string> dids) {
  Params params;
  params.array(impl::text_array(dids));
  return session.execute(kRemainOf, params).boolean(0, 0);
}

std::vector<std::string> running_jobs(Session& session, std::span<const std::string> dids) {
  Params params;
  params.array(impl::text_array(dids));
  return store::first_column(session.execute(sql::backfill_jobs_running, params));
}

}  // namespace skua::backfill
