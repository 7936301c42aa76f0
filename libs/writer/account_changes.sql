-- name: actors_status
UPDATE bsky.actors AS a
SET active = s.active, status = s.status, status_time = s.time
FROM unnest($1::int4[], $2::boolean[], $3::text[], $4::timestamptz[]) AS s(id, active, status, time)
JOIN bsky.actors AS b ON b.id = s.id
WHERE a.id = s.id AND (a.status_time IS NULL OR a.status_time < s.time)
RETURNING a.id, (coalesce(b.active, true), b.status) IS DISTINCT FROM (coalesce(a.active, true), a.status),
  a.status IS NOT DISTINCT FROM 'deleted';

-- name: actors_floor
-- Only where the deletion, or what followed it in this batch, is the newest word.
UPDATE bsky.actors AS a
SET floor_rev = greatest(a.floor_rev, f.rev)
FROM unnest($1::int4[], $2::int8[], $3::timestamptz[]) AS f(id, rev, time)
WHERE a.id = f.id AND a.status_time = f.time
RETURNING a.id;

-- name: actors_queue_again
-- What its host refused while it was not active it gives now; not at once where it refused a moment
-- ago, so that who is active and inactive in turns costs little. Jobs that run are left alone.
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
