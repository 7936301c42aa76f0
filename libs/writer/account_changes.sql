-- name: actors_status
UPDATE bsky.actors AS a
SET active = s.active, status = s.status, status_time = s.time
FROM unnest($1::int8[], $2::boolean[], $3::text[], $4::timestamptz[]) AS s(id, active, status, time)
JOIN bsky.actors AS b ON b.id = s.id
WHERE a.id = s.id AND (a.status_time IS NULL OR a.status_time < s.time)
RETURNING a.id, (coalesce(b.active, true), b.status) IS DISTINCT FROM (coalesce(a.active, true), a.status),
  a.status IS NOT DISTINCT FROM 'deleted';

-- name: actors_floor
-- Raises the floor only if the deletion, or a later message of this batch, is the newest one of the account.
UPDATE bsky.actors AS a
SET floor_rev = greatest(a.floor_rev, f.rev)
FROM unnest($1::int8[], $2::int8[], $3::timestamptz[]) AS f(id, rev, time)
WHERE a.id = f.id AND a.status_time = f.time
RETURNING a.id;

-- name: actors_queue_again
-- An active account has a repository again, so its unavailable jobs are queued. A job that ended a moment ago waits for
-- a minute, so that an account that changes its status often costs little. Running jobs stay unchanged.
WITH again AS MATERIALIZED (
  SELECT j.did
  FROM unnest($1::text[]) AS u(did)
  JOIN skua.backfill_jobs AS j ON j.did = u.did
  WHERE j.state = 'unavailable' AND j.file IS NULL
  ORDER BY j.did
  FOR UPDATE OF j
)
UPDATE skua.backfill_jobs AS j
SET state = 'queued', attempts = 0, retries = 0,
  next_attempt = greatest($2::timestamptz, j.finished_at + interval '1 minute')
FROM again
WHERE j.did = again.did;
