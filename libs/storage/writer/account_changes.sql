-- name: tombstones_upsert
INSERT INTO skua.tombstones AS t (actor_id, collection_id, rkey, rev, source, seq)
SELECT d.actor_id, d.collection_id, d.rkey, d.rev, d.source, d.seq
FROM unnest(
  $1::int8[], $2::int4[], $3::int8[], $4::int8[], $5::int8[], $6::text[]
) AS d(actor_id, collection_id, rkey, rev, seq, source)
ON CONFLICT (actor_id, collection_id, rkey)
DO UPDATE SET rev = EXCLUDED.rev, source = EXCLUDED.source, seq = EXCLUDED.seq
WHERE t.rev < EXCLUDED.rev;

-- name: actors_status
UPDATE bsky.actors AS a
SET active = s.active, status = s.status, status_time = s.time
FROM unnest($1::int8[], $2::boolean[], $3::text[], $4::timestamptz[]) AS s(id, active, status, time)
JOIN bsky.actors AS b ON b.id = s.id
WHERE a.id = s.id AND (a.status_time IS NULL OR a.status_time < s.time)
RETURNING a.id, (coalesce(b.active, true), b.status) IS DISTINCT FROM (coalesce(a.active, true), a.status),
  a.status IS NOT DISTINCT FROM 'deleted';

-- name: actors_floor
-- The statement raises the minimum revision only if the deletion, or a later message of this batch, is the newest message of
-- the account.
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

-- name: purge_raise
UPDATE bsky.actors AS a
SET
  floor_rev = greatest(
    a.floor_rev, known.rev, (extract(epoch FROM a.status_time) * 1000000)::int8 << 10 | 1023)
FROM bsky.actors AS b
LEFT JOIN skua.repositories AS known ON known.did = b.did
WHERE b.did = $1 AND a.id = b.id AND a.status = 'deleted' AND a.status_time IS NOT NULL
RETURNING a.id, a.floor_rev, a.status_time;

-- name: purge_add
INSERT INTO skua.purges AS p (did, actor_id, floor_rev, said_at)
SELECT n.did, n.id, n.rev, n.at
FROM unnest($1::text[], $2::int8[], $3::int8[], $4::timestamptz[]) AS n(did, id, rev, at)
WHERE EXISTS (SELECT 1 FROM bsky.all_records AS r WHERE r.did = n.did)
  OR EXISTS (SELECT 1 FROM bsky.labels AS l WHERE l.actor_id = n.id)
ON CONFLICT (did)
DO UPDATE SET floor_rev = greatest(p.floor_rev, EXCLUDED.floor_rev),
  said_at = greatest(p.said_at, EXCLUDED.said_at)
RETURNING did;

-- name: purge_find
SELECT actor_id, floor_rev, said_at FROM skua.purges WHERE did = $1::text;

-- name: purge_done
DELETE FROM skua.purges WHERE did = $1::text;

-- name: purge_after
SELECT did
FROM skua.purges
WHERE did > $1::text AND NOT EXISTS (SELECT 1 FROM skua.dropped_indexes)
ORDER BY did
LIMIT 100;

-- name: purge_tombstone
UPDATE bsky.actors
SET active = false, status = 'deleted', status_time = $2::timestamptz
WHERE did = $1 AND status IS DISTINCT FROM 'deleted'
RETURNING id;
