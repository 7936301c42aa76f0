-- fragment: first_of_each_host
-- The earliest job of each host after the host $1. Reads one index entry for each host, and none of the others.
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
