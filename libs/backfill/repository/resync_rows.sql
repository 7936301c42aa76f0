-- name: resync_tables
SELECT format('bsky.%I', c.relname),
  EXISTS (
    SELECT
    FROM pg_attribute AS a
    WHERE a.attrelid = c.oid AND a.attname = 'collection_id' AND NOT a.attisdropped
  )
FROM pg_class AS c
WHERE c.relnamespace = 'bsky'::regnamespace
  AND c.relkind = 'r'
  AND (
    SELECT count(*)
    FROM pg_attribute AS a
    WHERE a.attrelid = c.oid AND NOT a.attisdropped AND a.attname IN ('actor_id', 'rkey', 'rev', 'cid')
  ) = 4
ORDER BY 1;

-- name: resync_actor
SELECT a.id, a.floor_rev, r.rev
FROM bsky.actors AS a
LEFT JOIN skua.repositories AS r ON r.did = a.did
WHERE a.did = $1;

-- name: resync_actors
SELECT id, did FROM bsky.actors WHERE did = ANY($1::text[]);
