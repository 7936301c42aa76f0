-- name: guard_known
-- A plan may be from a time at which these tables were nearly empty. OFFSET 0 prevents a plan that compares each row of a table
-- with every key. The condition on bsky.records is a range of one key, so that PostgreSQL can only use its primary key, and not
-- its index on the collection.
WITH k AS MATERIALIZED (
  SELECT *
  FROM unnest($1::int8[], $2::int4[], $3::int8[])
  WITH ORDINALITY AS k(actor_id, collection_id, rkey, place)
)
SELECT k.place, t.rev, false
FROM k
CROSS JOIN LATERAL (
  SELECT t.rev
  FROM skua.tombstones AS t
  WHERE t.actor_id = k.actor_id AND t.collection_id = k.collection_id AND t.rkey = k.rkey OFFSET 0
) AS t
UNION ALL
SELECT k.place, r.rev, true
FROM k
CROSS JOIN LATERAL (
  SELECT r.rev
  FROM bsky.records AS r
  WHERE (r.actor_id, r.collection_id, r.rkey) >= (k.actor_id, k.collection_id, k.rkey)
    AND (r.actor_id, r.collection_id, r.rkey) <= (k.actor_id, k.collection_id, k.rkey) OFFSET 0
) AS r
UNION ALL
SELECT k.place, a.floor_rev, false
FROM k
JOIN bsky.actors AS a ON a.id = k.actor_id
WHERE a.floor_rev > 0;
