-- The fragments select the queued jobs of each kind of place, with the conditions of the partial indexes.

-- fragment: queued_at_host
state = 'queued' AND file IS NULL AND host IS NOT NULL

-- fragment: queued_without_host
state = 'queued' AND file IS NULL AND host IS NULL

-- fragment: queued_with_file
state = 'queued' AND file IS NOT NULL

-- fragment: rare_delay
-- The expression is the seconds that an unavailable or failed job j waits: a day, twice as long each time, 30 days at most,
-- with a random quarter more or less.
least(86400 * 2 ^ least(j.retries, 10), 2592000) * (0.75 + random() / 2)

-- fragment: owner_has_ended
-- The condition is true if the lease owner of a job or of a list has no session, because its process has ended, or lost its
-- connections.
NOT EXISTS (
  SELECT 1 FROM pg_stat_activity AS s
  WHERE s.datname = current_database() AND s.application_name = lease_owner
)

-- name: backfill_jobs_insert
-- Rows are sorted by DID, as in every statement that waits for rows of this table, so that two statements cannot deadlock.
INSERT INTO skua.backfill_jobs (did, host, file, since, created_at, next_attempt)
SELECT u.did, u.host, u.file, u.since, $5::timestamptz, $5::timestamptz
FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[]) AS u(did, host, file, since)
ORDER BY u.did
ON CONFLICT (did) DO NOTHING;

-- name: backfill_jobs_again
-- If $6 is true, jobs of every state are queued. $7 are the revisions that a list named.
WITH ended AS MATERIALIZED (
  SELECT j.did, u.host, u.file, u.since
  FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[], $7::int8[]) AS u(did, host, file, since, listed)
  JOIN skua.backfill_jobs AS j ON j.did = u.did
  WHERE j.state NOT IN ('queued', 'running')
    AND (
      $6::boolean
      OR (
        j.state <> 'cancelled'
        AND (
          u.listed > j.rev
          OR (j.state <> 'done' AND u.host IS NOT NULL AND u.host IS DISTINCT FROM j.host))))
  ORDER BY j.did
  FOR UPDATE OF j
)
UPDATE skua.backfill_jobs AS j
SET state = 'queued', host = ended.host, file = ended.file, since = ended.since, attempts = 0, lost = 0,
  retries = 0, error = NULL, next_attempt = $5::timestamptz
FROM ended
WHERE j.did = ended.did;

-- name: backfill_jobs_hurry
WITH waiting AS MATERIALIZED (
  SELECT j.did
  FROM unnest($1::text[]) AS u(did)
  JOIN skua.backfill_jobs AS j ON j.did = u.did
  WHERE j.state = 'queued' AND j.next_attempt > $2::timestamptz
  ORDER BY j.did
  FOR UPDATE OF j
)
UPDATE skua.backfill_jobs AS j
SET next_attempt = $2::timestamptz, attempts = 0, lost = 0
FROM waiting
WHERE j.did = waiting.did;

-- name: backfill_jobs_retry_rarely
WITH due AS MATERIALIZED (
  SELECT did
  FROM skua.backfill_jobs
  WHERE state IN ('unavailable', 'failed') AND file IS NULL AND next_attempt <= $1::timestamptz
  ORDER BY next_attempt
  LIMIT $2::int8
  FOR UPDATE SKIP LOCKED
)
UPDATE skua.backfill_jobs AS j
SET state = 'queued', retries = j.retries + 1,
  attempts = CASE WHEN j.state = 'failed' THEN greatest(j.attempts - 1, 0) ELSE 0 END
FROM due
WHERE j.did = due.did;

-- name: backfill_jobs_sample
-- $1 is the percentage of the table's blocks. One pass counts both the states and the hosts.
SELECT state, host, count(*) FROM skua.backfill_jobs TABLESAMPLE SYSTEM ($1::float8) GROUP BY state, host;

-- name: backfill_jobs_few
SELECT s.state,
  (
    SELECT count(*)
    FROM (
      SELECT 1
      FROM skua.backfill_jobs AS j
      WHERE j.state = s.state AND j.error IS NOT NULL
      LIMIT $1::int8
    ) AS few
  )
FROM (VALUES ('unavailable'), ('failed')) AS s(state)
UNION ALL
SELECT 'running',
  (SELECT count(*) FROM (SELECT 1 FROM skua.backfill_jobs WHERE state = 'running' LIMIT $1::int8) AS few);

-- name: backfill_jobs_errors
SELECT s.state, last.error, count(*), max(last.finished_at)
FROM (VALUES ('queued'), ('running'), ('unavailable'), ('failed'), ('cancelled')) AS s(state)
CROSS JOIN LATERAL (
  SELECT j.error, j.finished_at
  FROM skua.backfill_jobs AS j
  WHERE j.state = s.state AND j.error IS NOT NULL AND j.finished_at IS NOT NULL
  ORDER BY j.finished_at DESC
  LIMIT 1000
) AS last
GROUP BY s.state, last.error
ORDER BY count(*) DESC, max(last.finished_at) DESC, last.error
LIMIT 50;

-- name: backfill_jobs_blocks
SELECT pg_relation_size('skua.backfill_jobs') / current_setting('block_size')::int8;

-- name: backfill_jobs_ended_since
SELECT count(*)
FROM skua.backfill_jobs
WHERE state = $1 AND error IS NOT NULL AND finished_at >= $2::timestamptz;
