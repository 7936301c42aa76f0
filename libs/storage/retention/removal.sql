-- name: retention_excluded
-- An exclusion is due after 15 seconds, because processes apply a change of the filter within two seconds.
SELECT e.did, a.id
FROM skua.excluded_accounts AS e
LEFT JOIN bsky.actors AS a ON a.did = e.did
WHERE NOT EXISTS (SELECT 1 FROM skua.dropped_indexes)
  AND (
    e.removed_at IS NULL AND ($1::boolean OR e.excluded_at < clock_timestamp() - interval '15 seconds')
    OR e.removed_at < e.excluded_at + interval '10 minutes'
      AND e.excluded_at < clock_timestamp() - interval '10 minutes')
ORDER BY e.did
LIMIT 100;

-- name: retention_removed
UPDATE skua.excluded_accounts SET removed_at = clock_timestamp() WHERE did = $1::text;

-- name: retention_rules
SELECT collection, extract(epoch FROM keep)::int8, pass_at, removed
FROM skua.retention
ORDER BY collection;

-- name: retention_next
SELECT r.collection
FROM skua.retention AS r
WHERE NOT EXISTS (SELECT 1 FROM skua.dropped_indexes)
  AND (r.next_block IS NOT NULL OR r.pass_at IS NULL OR r.pass_at < clock_timestamp() - interval '1 hour')
ORDER BY r.pass_at NULLS FIRST
LIMIT 1;

-- name: retention_begin
SELECT coalesce(r.next_block, 0), clock_timestamp() - r.keep, c.id
FROM skua.retention AS r
LEFT JOIN bsky.collections AS c ON c.nsid = r.collection
WHERE r.collection = $1::text
FOR UPDATE OF r SKIP LOCKED;

-- name: retention_end
UPDATE skua.retention
SET next_block = $2::int8, removed = removed + $3::int8,
  pass_at = CASE WHEN next_block IS NULL THEN clock_timestamp() ELSE pass_at END
WHERE collection = $1::text;
