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
