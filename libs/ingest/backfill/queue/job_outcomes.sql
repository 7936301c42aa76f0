-- fragment: still_leased
-- The fragment selects the jobs of the DIDs u whose lease the owner $2 still has at the time $3.
JOIN skua.backfill_jobs AS j ON j.did = u.did
  WHERE j.state = 'running' AND j.lease_owner = $2 AND j.lease_until > $3::timestamptz
  ORDER BY j.did
  FOR UPDATE OF j

-- name: backfill_jobs_set_hosts
WITH ours AS MATERIALIZED (
  SELECT u.* FROM unnest($1::text[], $4::text[]) AS u(did, host)
  {{still_leased}}
)
UPDATE skua.backfill_jobs AS j
SET lease_until = NULL, lease_owner = NULL, state = 'queued', host = ours.host,
  next_attempt = $3::timestamptz, attempts = j.attempts - 1
FROM ours
WHERE j.did = ours.did
RETURNING j.did;

-- name: backfill_jobs_finish
WITH ours AS MATERIALIZED (
  SELECT u.* FROM unnest($1::text[], $4::int8[], $5::int8[], $6::int8[]) AS u(did, rev, records, bytes)
  {{still_leased}}
)
UPDATE skua.backfill_jobs AS j
SET lease_until = NULL, lease_owner = NULL, state = 'done',
  rev = greatest(j.rev, ours.rev), records = ours.records, bytes = ours.bytes, finished_at = $3::timestamptz,
  error = NULL, attempts = 0, lost = 0, retries = 0
FROM ours
WHERE j.did = ours.did
RETURNING j.did;

-- name: backfill_jobs_unavailable
WITH ours AS MATERIALIZED (
  SELECT u.* FROM unnest($1::text[], $4::text[]) AS u(did, reason)
  {{still_leased}}
)
UPDATE skua.backfill_jobs AS j
SET lease_until = NULL, lease_owner = NULL, state = 'unavailable', error = ours.reason,
  finished_at = $3::timestamptz, next_attempt = $3::timestamptz + make_interval(secs => {{rare_delay}})
FROM ours
WHERE j.did = ours.did
RETURNING j.did;

-- name: backfill_jobs_failed
-- $6 are the delays after the nth attempt. $7 is the highest number of attempts.
WITH ours AS MATERIALIZED (
  SELECT u.* FROM unnest($1::text[], $4::text[], $5::int8[]) AS u(did, reason, asked)
  {{still_leased}}
)
UPDATE skua.backfill_jobs AS j
SET lease_until = NULL, lease_owner = NULL, lost = 0, error = ours.reason,
  finished_at = $3::timestamptz, state = CASE WHEN j.attempts >= $7::int4 THEN 'failed' ELSE 'queued' END,
  next_attempt = $3::timestamptz + make_interval(secs =>
    CASE WHEN j.attempts >= $7::int4 THEN {{rare_delay}}
      ELSE ours.asked + ($6::int8[])[least(j.attempts, cardinality($6::int8[]))]
    END)
FROM ours
WHERE j.did = ours.did
RETURNING j.state = 'failed';

-- name: backfill_jobs_postponed
WITH ours AS MATERIALIZED (
  SELECT u.* FROM unnest($1::text[], $4::text[], $5::int8[]) AS u(did, reason, asked)
  {{still_leased}}
)
UPDATE skua.backfill_jobs AS j
SET lease_until = NULL, lease_owner = NULL, state = 'queued', error = ours.reason,
  finished_at = $3::timestamptz, attempts = j.attempts - 1,
  next_attempt = $3::timestamptz + make_interval(secs => ours.asked)
FROM ours
WHERE j.did = ours.did
RETURNING j.did;
