-- name: actors_find
SELECT id, did FROM bsky.actors WHERE did = ANY($1::text[]);

-- name: actors_insert
INSERT INTO bsky.actors (did, indexed_at)
SELECT did, $2::timestamptz
FROM unnest($1::text[]) AS u(did)
WHERE NOT EXISTS (SELECT 1 FROM bsky.actors AS a WHERE a.did = u.did)
ON CONFLICT (did) DO NOTHING
RETURNING id, did;

-- name: actors_newest
SELECT coalesce(max(id), 0) FROM bsky.actors;

-- name: actors_all
SELECT id, did
FROM bsky.actors
WHERE id > $1::int8 AND id <= $2::int8
ORDER BY id
LIMIT 50000;
