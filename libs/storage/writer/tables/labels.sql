-- name: labels_upsert
-- Rows are written in the order of the key, so that two writers cannot deadlock.
WITH l AS MATERIALIZED (
  SELECT l.*
  FROM unnest(
    $1::int8[], $2::int8[], $3::int4[], $4::int8[], $5::text[], $6::bytea[], $7::boolean[], $8::timestamptz[],
    $9::timestamptz[], $10::int8[])
  WITH ORDINALITY AS l(
    actor_id, subject_actor, subject_collection, subject_rkey, val, cid, neg, cts, exp, seq, place)
  JOIN bsky.actors a ON a.id = l.actor_id
  WHERE a.floor_rev = 0
    OR a.active IS NOT FALSE
    OR a.status IS DISTINCT FROM 'deleted'
    OR l.cts > a.status_time
),
old AS MATERIALIZED (
  SELECT l.place - 1 AS place, coalesce(NOT t.neg, false) AS was_set,
    (t.cid, t.exp) IS DISTINCT FROM (l.cid, l.exp) AS differs
  FROM l
  LEFT JOIN bsky.labels AS t USING (actor_id, subject_actor, subject_collection, subject_rkey, val)
  WHERE t.cts IS NULL OR (t.cts, t.seq) < (l.cts, l.seq)
),
written AS (
  INSERT INTO bsky.labels AS t (
    actor_id, subject_actor, subject_collection, subject_rkey, val, cid, neg, cts, exp, seq, indexed_at)
  SELECT l.actor_id, l.subject_actor, l.subject_collection, l.subject_rkey, l.val, l.cid, l.neg, l.cts, l.exp,
    l.seq, $11::timestamptz
  FROM l
  ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (actor_id, subject_actor, subject_collection, subject_rkey, val)
  DO UPDATE SET cid = EXCLUDED.cid, neg = EXCLUDED.neg, cts = EXCLUDED.cts, exp = EXCLUDED.exp,
    seq = EXCLUDED.seq, indexed_at = EXCLUDED.indexed_at
  WHERE (t.cts, t.seq) < (EXCLUDED.cts, EXCLUDED.seq)
)
SELECT *
FROM old;

-- name: labels_purge
DELETE FROM bsky.labels
WHERE ctid = ANY(
  ARRAY(SELECT ctid FROM bsky.labels WHERE actor_id = $1::int8 AND cts <= $2::timestamptz LIMIT $3::int8))
RETURNING subject_actor, subject_collection, subject_rkey, val, neg;
