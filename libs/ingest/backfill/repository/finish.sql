-- name: finish_floors
SELECT id, floor_rev FROM bsky.actors WHERE id = ANY($1::int8[]) AND floor_rev > 0;

-- name: finish_raise
UPDATE bsky.actors AS a
SET floor_rev = f.rev
FROM unnest($1::int8[], $2::int8[]) AS f(id, rev)
WHERE a.id = f.id AND a.floor_rev < f.rev;

-- name: finish_active
-- A host that provides a repository thereby shows that its account is active.
WITH returned AS (
  UPDATE bsky.actors AS a
  SET active = true, status = NULL, status_time = g.time
  FROM unnest($1::int8[], $2::timestamptz[]) AS g(id, time)
  WHERE a.id = g.id AND NOT a.active AND a.status_time < g.time
  RETURNING a.id, a.did
),
repositories AS (
  UPDATE skua.repositories AS r
  SET active = true
  FROM returned
  WHERE r.did = returned.did AND NOT r.active
)
SELECT id
FROM returned;

-- name: finish_deleted
SELECT did FROM bsky.actors WHERE id = ANY($1::int8[]) AND status = 'deleted';
