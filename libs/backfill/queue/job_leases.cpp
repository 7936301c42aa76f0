#include "backfill/queue/job_leases.hpp"

#include <utility>

#include "backfill/queue/impl/job_sql.hpp"
#include "backfill/queue/job_leases.sql.hpp"

namespace skua::backfill {
namespace {

using store::Params;
using store::Rows;
using store::Session;
using store::Statement;

Statement lease_statement(const char* name, const std::string& which) {
  return {name,
          "WITH due AS MATERIALIZED (SELECT did FROM skua.backfill_jobs WHERE " + which +
              " AND next_attempt <= $1::timestamptz ORDER BY next_attempt LIMIT $4::int8 "
              "FOR UPDATE SKIP LOCKED) "
              "UPDATE skua.backfill_jobs AS j SET state = 'running', attempts = j.attempts + 1, "
              "lease_number = j.lease_number + 1, lease_until = $2::timestamptz, lease_owner = $3 "
              "FROM due "
              "WHERE j.did = due.did "
              "RETURNING j.did, j.host, j.file, j.since, j.rev, j.attempts, j.lease_number"};
}

/// For the jobs of one kind of place: of all accounts or of some.
struct LeaseStatements {
  Statement of_all;
  Statement of_some;
};

/// `last`: the number of the last parameter; the accounts are the next one.
LeaseStatements lease_statements(const std::string& name, const std::string& which, int last) {
  return {lease_statement(name.c_str(), which),
          lease_statement((name + "_of").c_str(),
                          which + " AND did = ANY ($" + std::to_string(last + 1) + "::text[])")};
}

const LeaseStatements kLeaseAtHost =
    lease_statements("backfill_jobs_lease_host", impl::kQueuedAtHost + " AND host = $5", 5);
const LeaseStatements kLeaseUnknown =
    lease_statements("backfill_jobs_lease_unknown", impl::kQueuedWithoutHost, 4);
const LeaseStatements kLeaseFile =
    lease_statements("backfill_jobs_lease_file", impl::kQueuedWithFile, 4);

/// Reclaims running jobs; `which` is the condition. It does not count as an attempt, because nobody
/// knows which of the jobs crashed the process. A job without a host did not: only its document was
/// looked up.
Statement reclaim_statement(const char* name, const std::string& which, const char* reason) {
  return {name,
          "WITH lost AS MATERIALIZED (SELECT did, times, times > 2 OR times >= $2::int4 AS often "
          "FROM (SELECT did, lost + (host IS NOT NULL OR file IS NOT NULL)::int4 AS times "
          "FROM skua.backfill_jobs WHERE state = 'running' AND " +
              which +
              " ORDER BY did FOR UPDATE SKIP LOCKED) AS held) "
              "UPDATE skua.backfill_jobs AS j SET lease_until = NULL, lease_owner = NULL, "
              "finished_at = CASE WHEN lost.often THEN $1::timestamptz ELSE j.finished_at END, "
              "error = CASE WHEN lost.often THEN '" +
              reason +
              "' ELSE j.error END, attempts = j.attempts - 1, lost = lost.times, "
              "state = CASE WHEN lost.times >= $2::int4 THEN 'failed' ELSE 'queued' END, "
              "next_attempt = $1::timestamptz + make_interval(secs => "
              "CASE WHEN lost.times >= $2::int4 THEN " +
              impl::rare_delay_sql() +
              " WHEN lost.times <= 2 THEN 0 ELSE least(10 * 2 ^ (lost.times - 3), 3600) END) "
              "FROM lost WHERE j.did = lost.did"};
}

const Statement kReclaimExpired =
    reclaim_statement("backfill_jobs_reclaim_expired", "lease_until <= $1::timestamptz",
                      "the process that had it did not renew its lease");
const Statement kReclaimOrphans = reclaim_statement(
    "backfill_jobs_reclaim_orphans",
    "NOT EXISTS (SELECT FROM pg_stat_activity AS s WHERE s.datname = current_database() "
    "AND s.application_name = lease_owner)",
    "the process that had it ended");

const LeaseStatements& lease_statements_of(Place::Kind kind) {
  switch (kind) {
    case Place::Kind::Host:
      return kLeaseAtHost;
    case Place::Kind::Unknown:
      return kLeaseUnknown;
    case Place::Kind::File:
      return kLeaseFile;
  }
  return kLeaseUnknown;
}

std::size_t reclaim(Session& session, const Statement& statement, Timestamp now, int most_lost) {
  Params params;
  params.timestamp(now).int4(most_lost);
  return session.execute(statement, params).affected();
}

}  // namespace

std::vector<Job> lease_jobs(Session& session, const Place& place, std::size_t limit,
                            const LeaseRequest& request) {
  Params params;
  params.timestamp(request.now).timestamp(request.now + request.duration).text(request.owner);
  params.int8(static_cast<std::int64_t>(limit));
  if (place.kind == Place::Kind::Host) params.text(place.host);
  if (!request.only.empty()) params.array(impl::text_array(request.only));
  const LeaseStatements& statements = lease_statements_of(place.kind);
  const Rows rows =
      session.execute(request.only.empty() ? statements.of_all : statements.of_some, params);
  std::vector<Job> jobs;
  jobs.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Job job;
    job.did = rows.text(i, 0);
    job.host = rows.text_or_null(i, 1);
    job.file = rows.text_or_null(i, 2);
    job.since = impl::tid_or_null(rows, i, 3);
    job.rev = impl::tid_or_null(rows, i, 4);
    job.attempt = rows.int4(i, 5);
    job.lease_number = rows.int8(i, 6);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

std::size_t renew_leases(Session& session, const LeaseRequest& request) {
  Params params;
  params.text(request.owner).timestamp(request.now).timestamp(request.now + request.duration);
  return session.execute(sql::backfill_jobs_renew, params).affected();
}

std::size_t release_jobs(Session& session, const std::string& lease_owner) {
  Params params;
  params.text(lease_owner);
  return session.execute(sql::backfill_jobs_release, params).affected();
}

std::size_t reclaim_expired_jobs(Session& session, Timestamp now, int most_lost) {
  return reclaim(session, kReclaimExpired, now, most_lost);
}

std::size_t reclaim_orphan_jobs(Session& session, Timestamp now, int most_lost) {
  return reclaim(session, kReclaimOrphans, now, most_lost);
}

}  // namespace skua::backfill
