#include "backfill/queue/job_results.hpp"

#include <algorithm>

#include "backfill/queue/impl/job_sql.hpp"
#include "store/error_text.hpp"
#include "store/first_column.hpp"

namespace skua::backfill {
namespace {

using store::Array;
using store::Params;
using store::Rows;
using store::Session;
using store::Statement;

/// Ends the lease of those jobs that are still the owner's. `arrays` and `columns`: the types and
/// names of the parameters from $4 on, which are arrays like the DIDs; `set`: the new values.
Statement end_statement(const char* name, const std::string& arrays, const std::string& columns,
                        const std::string& set, const std::string& returning) {
  return {name, "WITH ours AS MATERIALIZED (SELECT u.* FROM unnest($1::text[]" + arrays +
                    ") AS u(did" + columns +
                    ") JOIN skua.backfill_jobs AS j ON j.did = u.did WHERE j.state = 'running' "
                    "AND j.lease_owner = $2 AND j.lease_until > $3::timestamptz ORDER BY j.did "
                    "FOR UPDATE OF j) "
                    "UPDATE skua.backfill_jobs AS j SET lease_until = NULL, lease_owner = NULL, " +
                    set + " FROM ours WHERE j.did = ours.did RETURNING " + returning};
}

const Statement kSetHosts =
    end_statement("backfill_jobs_set_hosts", ", $4::text[]", ", host",
                  "state = 'queued', host = ours.host, next_attempt = $3::timestamptz, "
                  "attempts = j.attempts - 1",
                  "j.did");

const Statement kFinish = end_statement(
    "backfill_jobs_finish", ", $4::int8[], $5::int8[], $6::int8[]", ", rev, records, bytes",
    "state = 'done', rev = greatest(j.rev, ours.rev), records = ours.records, "
    "bytes = ours.bytes, finished_at = $3::timestamptz, error = NULL, attempts = 0, lost = 0, "
    "retries = 0",
    "j.did");

const Statement kUnavailable =
    end_statement("backfill_jobs_unavailable", ", $4::text[]", ", reason",
                  "state = 'unavailable', error = ours.reason, finished_at = $3::timestamptz, "
                  "next_attempt = $3::timestamptz + make_interval(secs => " +
                      impl::rare_delay_sql() + ")",
                  "j.did");

// $6: the delay after the nth attempt. $7: the highest number of attempts.
const Statement kFailed =
    end_statement("backfill_jobs_failed", ", $4::text[], $5::int8[]", ", reason, asked",
                  "state = CASE WHEN j.attempts >= $7::int4 THEN 'failed' ELSE 'queued' END, "
                  "lost = 0, error = ours.reason, finished_at = $3::timestamptz, "
                  "next_attempt = $3::timestamptz + make_interval(secs => CASE "
                  "WHEN j.attempts >= $7::int4 THEN " +
                      impl::rare_delay_sql() +
                      " ELSE ours.asked + "
                      "($6::int8[])[least(j.attempts, cardinality($6::int8[]))] END)",
                  "j.state = 'failed'");

const Statement kPostponed =
    end_statement("backfill_jobs_postponed", ", $4::text[], $5::int8[]", ", reason, asked",
                  "state = 'queued', error = ours.reason, finished_at = $3::timestamptz, "
                  "attempts = j.attempts - 1, "
                  "next_attempt = $3::timestamptz + make_interval(secs => ours.asked)",
                  "j.did");

/// The first parameters of the statements that store an error: DIDs, lease owner, now, reasons.
Params error_params(std::span<const JobError> jobs, const std::string& lease_owner, Timestamp now) {
  Array dids(Array::Type::text);
  Array reasons(Array::Type::text);
  for (const JobError& job : jobs) {
    dids.text(job.did);
    reasons.text(store::error_text(job.reason));
  }
  Params params;
  params.array(dids).text(lease_owner).timestamp(now).array(reasons);
  return params;
}

Array asked_of(std::span<const JobError> jobs) {
  Array asked(Array::Type::int8);
  for (const JobError& job : jobs) asked.int8(std::max<std::int64_t>(job.asked.count(), 0));
  return asked;
}

}  // namespace

std::size_t set_hosts(Session& session, std::span<const JobHost> jobs,
                      const std::string& lease_owner, Timestamp now) {
  Array dids(Array::Type::text);
  Array hosts(Array::Type::text);
  for (const JobHost& job : jobs) {
    dids.text(job.did);
    hosts.text(job.host);
  }
  Params params;
  params.array(dids).text(lease_owner).timestamp(now).array(hosts);
  return session.execute(kSetHosts, params).affected();
}

std::vector<std::string> finish_jobs(Session& session, std::span<const FinishedJob> jobs,
                                     const std::string& lease_owner, Timestamp now) {
  Array dids(Array::Type::text);
  Array revs(Array::Type::int8);
  Array records(Array::Type::int8);
  Array bytes(Array::Type::int8);
  for (const FinishedJob& job : jobs) {
    dids.text(job.did);
    revs.int8(static_cast<std::int64_t>(job.rev.value));
    records.int8(job.records);
    bytes.int8(job.bytes);
  }
  Params params;
  params.array(dids).text(lease_owner).timestamp(now).array(revs).array(records).array(bytes);
  std::vector<std::string> ours = store::first_column(session.execute(kFinish, params));
  std::sort(ours.begin(), ours.end());
  return ours;
}

std::size_t jobs_unavailable(Session& session, std::span<const JobError> jobs,
                             const std::string& lease_owner, Timestamp now) {
  return session.execute(kUnavailable, error_params(jobs, lease_owner, now)).affected();
}

std::size_t jobs_failed(Session& session, std::span<const JobError> jobs,
                        const std::string& lease_owner, Timestamp now, int max_attempts) {
  Array delays(Array::Type::int8);
  for (int attempt = 1; attempt <= std::max(max_attempts, 1); ++attempt) {
    delays.int8(job_delay(attempt).count());
  }
  Params params = error_params(jobs, lease_owner, now);
  params.array(asked_of(jobs)).array(delays).int4(max_attempts);
  const Rows rows = session.execute(kFailed, params);
  std::size_t abandoned = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) abandoned += rows.boolean(i, 0) ? 1 : 0;
  return abandoned;
}

std::size_t jobs_postponed(Session& session, std::span<const JobError> jobs,
                           const std::string& lease_owner, Timestamp now) {
  Params params = error_params(jobs, lease_owner, now);
  params.array(asked_of(jobs));
  return session.execute(kPostponed, params).affected();
}

}  // namespace skua::backfill
