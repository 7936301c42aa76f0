-- name: resync_tables
SELECT format('bsky.%I', c.relname),
  CASE
    WHEN EXISTS (
      SELECT 1
      FROM pg_attribute AS a
      WHERE a.attrelid = c.oid AND a.attname = 'collection_id' AND NOT a.attisdropped
    ) THEN 't.collection_id'
    ELSE '0'
  END
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
SELECT id FROM bsky.actors WHERE did = ANY($1::text[]);

-- name: resync_create_before
CREATE TEMP TABLE IF NOT EXISTS rows_before (actor_id int8, place oid, collection_id int4, rkey int8, cid bytea);

-- name: resync_empty_before
TRUNCATE rows_before;

-- name: resync_analyze_before
ANALYZE rows_before;
