#include "backfill/queue/job_table.hpp"

#include <algorithm>

#include "backfill/queue/impl/job_sql.hpp"

namespace skua::backfill {
namespace {

using store::Array;
using store::Params;
using store::Session;
using store::Statement;

// Sorted by DID, like every statement that waits for rows of this table: no two of them deadlock.
const Statement kInsert{
    "backfill_jobs_insert",
    "INSERT INTO skua.backfill_jobs (did, host, file, since, created_at, next_attempt) "
    "SELECT u.did, u.host, u.file, u.since, $5::timestamptz, $5::timestamptz "
    "FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[]) AS u(did, host, file, since) "
    "ORDER BY u.did ON CONFLICT (did) DO NOTHING"};

// $6: whatever the state is. $7: the revision that a list named.
const Statement kAgain{
    "backfill_jobs_again",
    "WITH ended AS MATERIALIZED (SELECT j.did, u.host, u.file, u.since "
    "FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[], $7::int8[]) "
    "AS u(did, host, file, since, listed) JOIN skua.backfill_jobs AS j ON j.did = u.did "
    "WHERE j.state NOT IN ('queued', 'running') AND ($6::boolean OR (j.state <> 'cancelled' AND "
    "(u.listed > j.rev OR (j.state <> 'done' AND u.host IS NOT NULL AND u.host IS DISTINCT FROM "
    "j.host)))) "
    "ORDER BY j.did FOR UPDATE OF j) "
    "UPDATE skua.backfill_jobs AS j SET state = 'queued', host = ended.host, file = ended.file, "
    "since = ended.since, attempts = 0, lost = 0, retries = 0, error = NULL, "
    "next_attempt = $5::timestamptz "
    "FROM ended WHERE j.did = ended.did"};

const Statement kHurry{
    "backfill_jobs_hurry",
    "WITH waiting AS MATERIALIZED (SELECT j.did FROM unnest($1::text[]) AS u(did) "
    "JOIN skua.backfill_jobs AS j ON j.did = u.did WHERE j.state = 'queued' "
    "AND j.next_attempt > $2::timestamptz ORDER BY j.did FOR UPDATE OF j) "
    "UPDATE skua.backfill_jobs AS j SET next_attempt = $2::timestamptz, attempts = 0, lost = 0 "
    "FROM waiting WHERE j.did = waiting.did"};

const Statement kRetryRarely{
    "backfill_jobs_retry_rarely",
    "WITH due AS MATERIALIZED (SELECT did FROM skua.backfill_jobs "
    "WHERE state IN ('unavailable', 'failed') AND file IS NULL "
    "AND next_attempt <= $1::timestamptz ORDER BY next_attempt LIMIT $2::int8 "
    "FOR UPDATE SKIP LOCKED) "
    "UPDATE skua.backfill_jobs AS j SET state = 'queued', retries = j.retries + 1, "
    "attempts = CASE WHEN j.state = 'failed' THEN greatest(j.attempts - 1, 0) ELSE 0 END "
    "FROM due WHERE j.did = due.did"};

std::size_t add_some(Session& session, std::span<const NewJob> jobs, Again again, Timestamp now) {
  Array dids(Array::Type::text);
  Array hosts(Array::Type::text);
  Array files(Array::Type::text);
  Array since(Array::Type::int8);
  Array listed(Array::Type::int8);
  for (const NewJob& job : jobs) {
    dids.text(job.did);
    impl::add_or_null(hosts, job.host);
    impl::add_or_null(files, job.file);
    impl::add_or_null(since, job.since);
    impl::add_or_null(listed, job.listed);
  }
  Params params;
  params.array(dids).array(hosts).array(files).array(since).timestamp(now);
  std::size_t queued = session.execute(kInsert, params).affected();
  if (queued == jobs.size()) return queued;
  params.boolean(again == Again::Yes).array(listed);
  queued += session.execute(kAgain, params).affected();
  if (again == Again::Yes) {
    Params hurry;
    hurry.array(dids).timestamp(now);
    session.execute(kHurry, hurry);
  }
  return queued;
}

}  // namespace

std::size_t add_jobs(Session& session, std::span<const NewJob> jobs, Again again, Timestamp now) {
  // Bounds the memory of a statement.
  constexpr std::size_t kAtOnce = 10'000;
  std::size_t queued = 0;
  for (std::size_t begin = 0; begin < jobs.size(); begin += kAtOnce) {
    queued +=
        add_some(session, jobs.subspan(begin, std::min(kAtOnce, jobs.size() - begin)), again, now);
  }
  return queued;
}

std::chrono::seconds job_delay(int attempt) {
  constexpr std::chrono::seconds kFirst{10};
  constexpr std::chrono::seconds kLongest = std::chrono::hours(6);
  return std::min<std::chrono::seconds>(kFirst * (1 << std::clamp(attempt - 1, 0, 12)), kLongest);
}

std::size_t retry_rarely(Session& session, Timestamp now, std::size_t limit) {
  Params params;
  params.timestamp(now).int8(static_cast<std::int64_t>(limit));
  return session.execute(kRetryRarely, params).affected();
}

}  // namespace skua::backfill
