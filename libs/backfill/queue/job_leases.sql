-- name: backfill_jobs_renew
-- Skips a job that is locked: it is ending and needs no lease. The lock of a transaction that
-- writes a chunk is weaker, and its job is renewed.
WITH held AS MATERIALIZED (
  SELECT did
  FROM skua.backfill_jobs
  WHERE state = 'running' AND lease_owner = $1 AND lease_until > $2::timestamptz FOR NO KEY
  UPDATE SKIP LOCKED
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
