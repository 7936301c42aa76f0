-- fragment: first_of_each_host
-- The fragment finds the earliest job of each host after the host $1. It reads one index entry for each host, and no entries of
-- its other jobs.
WITH RECURSIVE first AS (
  (
    SELECT host, next_attempt FROM skua.backfill_jobs
    WHERE {{queued_at_host}} AND host > $1
    ORDER BY host, next_attempt
    LIMIT 1
  )
  UNION ALL
  SELECT n.host, n.next_attempt
  FROM first
  CROSS JOIN LATERAL (
    SELECT host, next_attempt FROM skua.backfill_jobs
    WHERE {{queued_at_host}} AND host > first.host
    ORDER BY host, next_attempt
    LIMIT 1
  ) AS n
)

-- name: backfill_jobs_due_hosts
{{first_of_each_host}}
SELECT host FROM first WHERE next_attempt <= $2::timestamptz LIMIT $3::int8;

-- name: backfill_jobs_due_hosts_of
SELECT DISTINCT host FROM skua.backfill_jobs
WHERE did = ANY($1::text[]) AND {{queued_at_host}} AND next_attempt <= $2::timestamptz
ORDER BY host;

-- name: backfill_jobs_next_due
{{first_of_each_host}}
SELECT least(
  (SELECT min(next_attempt) FROM first),
  (SELECT next_attempt FROM skua.backfill_jobs WHERE {{queued_without_host}} ORDER BY next_attempt LIMIT 1),
  (SELECT next_attempt FROM skua.backfill_jobs WHERE {{queued_with_file}} ORDER BY next_attempt LIMIT 1)
);

-- name: backfill_jobs_remain
SELECT EXISTS (SELECT 1 FROM skua.backfill_jobs WHERE {{queued_at_host}})
  OR EXISTS (SELECT 1 FROM skua.backfill_jobs WHERE {{queued_without_host}})
  OR EXISTS (SELECT 1 FROM skua.backfill_jobs WHERE {{queued_with_file}})
  OR EXISTS (SELECT 1 FROM skua.backfill_jobs WHERE state = 'running');

-- name: backfill_jobs_remain_of
SELECT EXISTS (SELECT 1 FROM skua.backfill_jobs WHERE did = ANY($1::text[]) AND state IN ('queued', 'running'));

-- name: backfill_jobs_running
SELECT j.did
FROM unnest($1::text[]) AS u(did)
JOIN skua.backfill_jobs AS j ON j.did = u.did
WHERE j.state = 'running';

-- fragment: due_for_lease
-- $1 is now, and $4 is the number of jobs.
next_attempt <= $1::timestamptz
  ORDER BY next_attempt
  LIMIT $4::int8
  FOR UPDATE SKIP LOCKED

-- fragment: lease_due
-- $2 is the end of the lease, and $3 is its owner. The columns are the fields of Job.
UPDATE skua.backfill_jobs AS j
SET state = 'running', attempts = j.attempts + 1, lease_number = j.lease_number + 1, lease_until = $2::timestamptz,
  lease_owner = $3
FROM due
WHERE j.did = due.did
RETURNING j.did, j.host, j.file, j.since, j.rev, j.attempts, j.lease_number

-- name: backfill_jobs_lease_host
WITH due AS MATERIALIZED (
  SELECT did FROM skua.backfill_jobs
  WHERE {{queued_at_host}} AND host = $5 AND {{due_for_lease}}
)
{{lease_due}};

-- name: backfill_jobs_lease_host_of
WITH due AS MATERIALIZED (
  SELECT did FROM skua.backfill_jobs
  WHERE {{queued_at_host}} AND host = $5 AND did = ANY($6::text[]) AND {{due_for_lease}}
)
{{lease_due}};

-- name: backfill_jobs_lease_unknown
WITH due AS MATERIALIZED (
  SELECT did FROM skua.backfill_jobs
  WHERE {{queued_without_host}} AND {{due_for_lease}}
)
{{lease_due}};

-- name: backfill_jobs_lease_unknown_of
WITH due AS MATERIALIZED (
  SELECT did FROM skua.backfill_jobs
  WHERE {{queued_without_host}} AND did = ANY($5::text[]) AND {{due_for_lease}}
)
{{lease_due}};

-- name: backfill_jobs_lease_file
WITH due AS MATERIALIZED (
  SELECT did FROM skua.backfill_jobs
  WHERE {{queued_with_file}} AND {{due_for_lease}}
)
{{lease_due}};

-- name: backfill_jobs_lease_file_of
WITH due AS MATERIALIZED (
  SELECT did FROM skua.backfill_jobs
  WHERE {{queued_with_file}} AND did = ANY($5::text[]) AND {{due_for_lease}}
)
{{lease_due}};

-- name: backfill_jobs_renew
-- The statement skips a job that is locked, because the job is ending and needs no lease. A transaction that writes a chunk has
-- a weaker lock, so its job is renewed.
WITH held AS MATERIALIZED (
  SELECT did
  FROM skua.backfill_jobs
  WHERE state = 'running' AND lease_owner = $1 AND lease_until > $2::timestamptz
  FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE skua.backfill_jobs AS j
SET lease_until = $3::timestamptz
FROM held
WHERE j.did = held.did;

-- name: backfill_jobs_release
WITH held AS MATERIALIZED (
  SELECT did
  FROM skua.backfill_jobs
  WHERE state = 'running' AND lease_owner = $1
  ORDER BY did
  FOR UPDATE
)
UPDATE skua.backfill_jobs AS j
SET state = 'queued', lease_until = NULL, lease_owner = NULL, attempts = j.attempts - 1
FROM held
WHERE j.did = held.did;

-- fragment: reclaimed
-- $1 is now, and $2 is the number of crashes after which a job fails. A lost lease does not count as an attempt, because it is
-- not known which of the jobs crashed the process. A job without a host did not crash it, because only its document was looked
-- up.
lease_until = NULL, lease_owner = NULL, attempts = j.attempts - 1, lost = lost.times,
  finished_at = CASE WHEN lost.often THEN $1::timestamptz ELSE j.finished_at END,
  state = CASE WHEN lost.times >= $2::int4 THEN 'failed' ELSE 'queued' END,
  next_attempt = $1::timestamptz + make_interval(secs =>
    CASE WHEN lost.times >= $2::int4 THEN {{rare_delay}}
      WHEN lost.times <= 2 THEN 0
      ELSE least(10 * 2 ^ (lost.times - 3), 3600)
    END)
FROM lost
WHERE j.did = lost.did

-- name: backfill_jobs_reclaim_expired
WITH lost AS MATERIALIZED (
  SELECT did, times, times > 2 OR times >= $2::int4 AS often
  FROM (
    SELECT did, lost + (host IS NOT NULL OR file IS NOT NULL)::int4 AS times
    FROM skua.backfill_jobs
    WHERE state = 'running' AND lease_until <= $1::timestamptz
    ORDER BY did
    FOR UPDATE SKIP LOCKED
  ) AS held
)
UPDATE skua.backfill_jobs AS j
SET error = CASE WHEN lost.often THEN 'the process that had it did not renew its lease' ELSE j.error END,
  {{reclaimed}};

-- name: backfill_jobs_reclaim_orphans
WITH lost AS MATERIALIZED (
  SELECT did, times, times > 2 OR times >= $2::int4 AS often
  FROM (
    SELECT did, lost + (host IS NOT NULL OR file IS NOT NULL)::int4 AS times
    FROM skua.backfill_jobs
    WHERE state = 'running' AND {{owner_has_ended}}
    ORDER BY did
    FOR UPDATE SKIP LOCKED
  ) AS held
)
UPDATE skua.backfill_jobs AS j
SET error = CASE WHEN lost.often THEN 'the process that had it ended' ELSE j.error END,
  {{reclaimed}};
