-- name: labelers_read
-- The statement uses the primary key of bsky.labelers. An account may have several records. Only the record `self` declares a
-- service. An account with other records is a harmless candidate, because the DID document of the account decides. The bits of
-- a number below its group are in the order in which the accounts became known.
SELECT a.did
FROM (SELECT DISTINCT actor_id FROM bsky.labelers) AS l
JOIN bsky.actors AS a ON a.id = l.actor_id
WHERE a.active
ORDER BY l.actor_id & 70368744177663
LIMIT $1::int8;
