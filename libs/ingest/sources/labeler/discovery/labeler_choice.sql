-- name: labelers_read
-- By the primary key of bsky.labelers. An account may have several records: only `self` counts as a
-- service, but the others do no harm.
SELECT a.did
FROM (SELECT DISTINCT actor_id FROM bsky.labelers) AS l
JOIN bsky.actors AS a ON a.id = l.actor_id
WHERE a.active
ORDER BY l.actor_id
LIMIT $1::int8;
