-- Folds the change log from its first block on, and compares the result with the tables: a row for each difference.
-- The tables of records come from bsky.all_records. A collection with counted references has a part in `recounted`.
WITH
log AS MATERIALIZED (SELECT * FROM skua.changes(1, 2147483647)),
refs AS MATERIALIZED (SELECT * FROM skua.change_references(1, 2147483647)),
records AS MATERIALIZED (
  SELECT *, lag(op) OVER of_record AS op_before,
    lead(pos) OVER of_record IS NULL AS is_last
  FROM log WHERE kind = 'record' WINDOW of_record AS (PARTITION BY actor_id, collection_id, rkey ORDER BY pos)
),
folded AS (
  SELECT bsky.uri(actor_id, collection_id, rkey) AS uri, bsky.cid_text(cid) AS cid
  FROM records WHERE is_last AND op <> 'delete'
),
stored AS MATERIALIZED (SELECT uri, cid FROM bsky.all_records),
counted AS (
  SELECT role, actor_id, collection_id, rkey, sum(delta) AS number FROM refs GROUP BY 1, 2, 3, 4 HAVING sum(delta) <> 0
),
recounted AS (
  SELECT 'like' AS role, subject_actor AS actor_id, subject_collection AS collection_id, subject_rkey AS rkey,
    count(DISTINCT actor_id) AS number
  FROM bsky.likes WHERE subject_actor IS NOT NULL GROUP BY 2, 3, 4
  UNION ALL
  SELECT 'repost', subject_actor, subject_collection, subject_rkey, count(DISTINCT actor_id)
  FROM bsky.reposts WHERE subject_actor IS NOT NULL GROUP BY 2, 3, 4
  UNION ALL
  SELECT 'follow', subject_actor, 0, 0, count(DISTINCT actor_id) FROM bsky.follows GROUP BY 2
  UNION ALL
  SELECT 'following', actor_id, 0, 0, count(DISTINCT subject_actor) FROM bsky.follows GROUP BY 2
  UNION ALL
  SELECT 'block', subject_actor, 0, 0, count(DISTINCT actor_id) FROM bsky.blocks GROUP BY 2
  UNION ALL
  SELECT 'reply', parent_actor, 1, parent_rkey, sum(n) FROM (
    SELECT parent_actor, parent_rkey, 1 AS n FROM bsky.posts WHERE parent_actor IS NOT NULL
    UNION ALL
    SELECT parent_actor, parent_rkey, -1 FROM bsky.post_rules WHERE violates_threadgate AND parent_actor IS NOT NULL
  ) AS r GROUP BY 2, 4 HAVING sum(n) <> 0
  UNION ALL
  SELECT 'quote', quote_actor, quote_collection, quote_rkey, count(*)
  FROM bsky.posts WHERE quote_actor IS NOT NULL GROUP BY 2, 3, 4
  UNION ALL
  SELECT 'post', actor_id, 0, 0, count(*) FROM bsky.posts WHERE cid IS NOT NULL GROUP BY 2
  UNION ALL
  SELECT 'list item', list_actor, 9, list_rkey, count(*) FROM bsky.list_items WHERE list_actor IS NOT NULL GROUP BY 2, 4
  UNION ALL
  SELECT 'listed', subject_actor, 0, 0, count(*) FROM bsky.list_items GROUP BY 2
  UNION ALL
  SELECT 'label', subject_actor, subject_collection, subject_rkey, count(*) FROM bsky.labels WHERE NOT neg GROUP BY 2, 3, 4
)
SELECT 'no URI: ' || s::text FROM stored AS s WHERE uri IS NULL
UNION ALL
SELECT 'not in the tables: ' || f::text FROM (TABLE folded EXCEPT TABLE stored) AS f
UNION ALL
SELECT 'not in the log: ' || s::text FROM (TABLE stored EXCEPT TABLE folded) AS s
UNION ALL
SELECT format('%s after %s: %s', op, coalesce(op_before, 'nothing'), r::text) FROM records AS r
WHERE (op = 'create') <> (coalesce(op_before, 'delete') = 'delete')
UNION ALL
SELECT 'counted by the log: ' || c::text FROM (TABLE counted EXCEPT TABLE recounted) AS c
UNION ALL
SELECT 'counted in the tables: ' || r::text FROM (TABLE recounted EXCEPT TABLE counted) AS r
UNION ALL
SELECT format('%s changes at %s positions', sum(n), max(pos + n) - min(pos)) FROM skua.change_log
HAVING sum(n) <> max(pos + n) - min(pos) OR min(pos) <> 1
LIMIT 20
