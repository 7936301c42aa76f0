-- A command changes a part of the table at a time: the jobs of named accounts ($4), or the jobs in the blocks from $4 to before
-- $5. $3 is now.

-- fragment: meant_jobs
-- $1 are states, and $2 is a host or null.
j.state = ANY($1::text[]) AND ($2::text IS NULL OR j.host = $2::text)

-- name: backfill_jobs_retry_named
WITH hit AS MATERIALIZED (
  SELECT j.did FROM skua.backfill_jobs AS j
  WHERE j.did = ANY($4::text[])
    AND j.state <> 'running' AND (j.state <> 'queued' OR j.next_attempt > $3::timestamptz)
    AND {{meant_jobs}}
  ORDER BY j.did
  FOR UPDATE
)
UPDATE skua.backfill_jobs AS j
SET lease_until = NULL, lease_owner = NULL, state = 'queued', attempts = 0, lost = 0, retries = 0, error = NULL,
  next_attempt = $3::timestamptz
FROM hit
WHERE j.did = hit.did;

-- name: backfill_jobs_retry_piece
WITH hit AS MATERIALIZED (
  SELECT j.did FROM skua.backfill_jobs AS j
  WHERE j.ctid >= format('(%s,0)', $4::int8)::tid AND j.ctid < format('(%s,0)', $5::int8)::tid
    AND j.state <> 'running' AND (j.state <> 'queued' OR j.next_attempt > $3::timestamptz)
    AND {{meant_jobs}}
  ORDER BY j.did
  FOR UPDATE
)
UPDATE skua.backfill_jobs AS j
SET lease_until = NULL, lease_owner = NULL, state = 'queued', attempts = 0, lost = 0, retries = 0, error = NULL,
  next_attempt = $3::timestamptz
FROM hit
WHERE j.did = hit.did;

-- name: backfill_jobs_cancel_named
WITH hit AS MATERIALIZED (
  SELECT j.did FROM skua.backfill_jobs AS j
  WHERE j.did = ANY($4::text[])
    AND j.state <> 'cancelled'
    AND {{meant_jobs}}
  ORDER BY j.did
  FOR UPDATE
)
UPDATE skua.backfill_jobs AS j
SET lease_until = NULL, lease_owner = NULL, state = 'cancelled', finished_at = $3::timestamptz
FROM hit
WHERE j.did = hit.did;

-- name: backfill_jobs_cancel_piece
WITH hit AS MATERIALIZED (
  SELECT j.did FROM skua.backfill_jobs AS j
  WHERE j.ctid >= format('(%s,0)', $4::int8)::tid AND j.ctid < format('(%s,0)', $5::int8)::tid
    AND j.state <> 'cancelled'
    AND {{meant_jobs}}
  ORDER BY j.did
  FOR UPDATE
)
UPDATE skua.backfill_jobs AS j
SET lease_until = NULL, lease_owner = NULL, state = 'cancelled', finished_at = $3::timestamptz
FROM hit
WHERE j.did = hit.did;

-- name: backfill_jobs_read
SELECT did, state, error, lease_owner, host, rev, coalesce(records, 0), attempts, next_attempt, finished_at
FROM skua.backfill_jobs
WHERE did = ANY($1::text[])
ORDER BY did COLLATE "C";
