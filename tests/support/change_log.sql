-- Whether the change log, from its first block on, gives the tables: a row for each difference.
WITH
log AS MATERIALIZED (SELECT * FROM skua.changes(1, 2147483647)),
refs AS MATERIALIZED (SELECT * FROM skua.change_references(1, 2147483647)),
records AS MATERIALIZED (
  SELECT *, lag(op) OVER of_record AS op_before,
    lead(pos) OVER of_record IS NULL AS is_last
  FROM log WHERE kind = 'record' WINDOW of_record AS (PARTITION BY actor_id, collection_id, rkey ORDER BY pos)
),
folded AS (SELECT actor_id, collection_id, rkey, cid FROM records WHERE is_last AND op <> 'delete'),
stored AS MATERIALIZED (
  SELECT actor_id, c.id AS collection_id, rkey, t.cid FROM (
    SELECT actor_id, rkey, cid, 'app.bsky.feed.post' AS nsid FROM bsky.posts
    UNION ALL SELECT actor_id, rkey, cid, 'app.bsky.feed.like' FROM bsky.likes
    UNION ALL SELECT actor_id, rkey, cid, 'app.bsky.feed.repost' FROM bsky.reposts
    UNION ALL SELECT actor_id, rkey, cid, 'app.bsky.feed.threadgate' FROM bsky.threadgates
    UNION ALL SELECT actor_id, rkey, cid, 'app.bsky.feed.postgate' FROM bsky.postgates
    UNION ALL SELECT actor_id, rkey, cid, 'app.bsky.feed.generator' FROM bsky.feed_generators
    UNION ALL SELECT actor_id, rkey, cid, 'app.bsky.graph.follow' FROM bsky.follows
    UNION ALL SELECT actor_id, rkey, cid, 'app.bsky.graph.block' FROM bsky.blocks
    UNION ALL SELECT actor_id, rkey, cid, 'app.bsky.graph.list' FROM bsky.lists
    UNION ALL SELECT actor_id, rkey, cid, 'app.bsky.graph.listitem' FROM bsky.list_items
    UNION ALL SELECT actor_id, rkey, cid, 'app.bsky.graph.listblock' FROM bsky.list_blocks
    UNION ALL SELECT actor_id, rkey, cid, 'app.bsky.graph.starterpack' FROM bsky.starter_packs
    UNION ALL SELECT actor_id, rkey, cid, 'app.bsky.graph.verification' FROM bsky.verifications
    UNION ALL SELECT actor_id, rkey, cid, 'app.bsky.actor.profile' FROM bsky.profiles
    UNION ALL SELECT actor_id, rkey, cid, 'app.bsky.actor.status' FROM bsky.statuses
    UNION ALL SELECT actor_id, rkey, cid, 'chat.bsky.actor.declaration' FROM bsky.chat_declarations
    UNION ALL SELECT actor_id, rkey, cid, 'app.bsky.notification.declaration' FROM bsky.notification_declarations
    UNION ALL SELECT actor_id, rkey, cid, 'com.germnetwork.declaration' FROM bsky.germ_declarations
    UNION ALL SELECT actor_id, rkey, cid, 'app.bsky.labeler.service' FROM bsky.labelers
  ) AS t JOIN bsky.collections AS c USING (nsid) WHERE t.cid IS NOT NULL
  UNION ALL SELECT actor_id, collection_id, rkey, cid FROM bsky.records
),
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
  SELECT 'reply', parent_actor, 1, parent_rkey, count(*) FROM bsky.posts WHERE parent_actor IS NOT NULL GROUP BY 2, 4
  UNION ALL
  SELECT 'quote', quote_actor, quote_collection, quote_rkey, count(*)
  FROM bsky.posts WHERE quote_actor IS NOT NULL GROUP BY 2, 3, 4
  UNION ALL
  SELECT 'post', actor_id, 0, 0, count(*) FROM bsky.posts WHERE cid IS NOT NULL GROUP BY 2
  UNION ALL
  SELECT 'list item', list_actor, 9, list_rkey, count(*) FROM bsky.list_items WHERE list_actor IS NOT NULL GROUP BY 2, 4
  UNION ALL
  SELECT 'label', subject_actor, subject_collection, subject_rkey, count(*) FROM bsky.labels WHERE NOT neg GROUP BY 2, 3, 4
)
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
