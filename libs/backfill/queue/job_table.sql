-- name: backfill_jobs_insert
-- Sorted by DID, like every statement that waits for rows of this table: no two of them deadlock.
INSERT INTO skua.backfill_jobs (did, host, file, since, created_at, next_attempt)
SELECT u.did, u.host, u.file, u.since, $5::timestamptz, $5::timestamptz
FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[]) AS u(did, host, file, since)
ORDER BY u.did
ON CONFLICT (did) DO NOTHING;

-- name: backfill_jobs_again
-- $6: whatever the state is. $7: the revision that a list named.
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
