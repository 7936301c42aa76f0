-- projection: post_stats
-- help: Likes, reposts, replies and quotes of posts
-- lanes: several
-- depends on: post_rules

-- Replies that violate a threadgate do not count. The projection post_rules appends them to the log as references of delta -1.
-- The roles in the statements are those of skua.change_log.ref_role.

-- table: post_stats
rkey int8 NOT NULL, actor_id int8 NOT NULL, likes int4 NOT NULL, reposts int4 NOT NULL, replies int4 NOT NULL,
quotes int4 NOT NULL, PRIMARY KEY (actor_id, rkey)

-- view
SELECT skua.declare_projection('post_stats', 'actor_id int8, rkey int8, likes int4, reposts int4, replies int4,
  quotes int4');
COMMENT ON VIEW bsky.post_stats IS 'The numbers of likes, reposts, replies and quotes of a post. Empty until `skua consumers add post_stats` has built it. A post without a row has none.';
COMMENT ON COLUMN bsky.post_stats.actor_id IS 'The author of the post (bsky.actors.id).';
COMMENT ON COLUMN bsky.post_stats.rkey IS 'The record key of the post, as a number.';
COMMENT ON COLUMN bsky.post_stats.likes IS 'The number of accounts that like the post.';
COMMENT ON COLUMN bsky.post_stats.reposts IS 'The number of accounts that reposted it.';
COMMENT ON COLUMN bsky.post_stats.replies IS 'The number of posts that reply to it directly, without those that violate the threadgate, if the projection post_rules exists.';
COMMENT ON COLUMN bsky.post_stats.quotes IS 'The number of posts that quote it.';

-- fill
INSERT INTO {post_stats} (actor_id, rkey, likes, reposts, replies, quotes)
SELECT actor_id, rkey, sum(likes), sum(reposts), sum(replies), sum(quotes) FROM (
  SELECT subject_actor AS actor_id, subject_rkey AS rkey, count(DISTINCT actor_id) AS likes, 0 AS reposts, 0 AS replies,
    0 AS quotes
  FROM bsky.likes WHERE subject_collection = 1 GROUP BY 1, 2
  UNION ALL
  SELECT subject_actor, subject_rkey, 0, count(DISTINCT actor_id), 0, 0
  FROM bsky.reposts WHERE subject_collection = 1 GROUP BY 1, 2
  UNION ALL
  SELECT parent_actor, parent_rkey, 0, 0, count(*), 0 FROM bsky.posts WHERE parent_actor IS NOT NULL GROUP BY 1, 2
  UNION ALL
  SELECT parent_actor, parent_rkey, 0, 0, -count(*), 0 FROM bsky.post_rules
  WHERE violates_threadgate AND parent_actor IS NOT NULL GROUP BY 1, 2
  UNION ALL
  SELECT quote_actor, quote_rkey, 0, 0, 0, count(*) FROM bsky.posts WHERE quote_collection = 1 GROUP BY 1, 2
) AS counted GROUP BY 1, 2

-- fold
INSERT INTO {post_stats} AS t (actor_id, rkey, likes, reposts, replies, quotes)
SELECT r.actor_id, r.rkey, coalesce(sum(r.delta) FILTER (WHERE r.role = 1), 0),
  coalesce(sum(r.delta) FILTER (WHERE r.role = 2), 0), coalesce(sum(r.delta) FILTER (WHERE r.role = 3), 0),
  coalesce(sum(r.delta) FILTER (WHERE r.role = 4), 0)
FROM skua.references_between($1::int8, $2::int8) AS r
WHERE r.role BETWEEN 1 AND 4 AND r.collection_id = 1 AND r.delta <> 0 AND r.actor_id & ($4::int4 - 1) = $3::int4
GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (actor_id, rkey) DO UPDATE SET likes = t.likes + EXCLUDED.likes, reposts = t.reposts + EXCLUDED.reposts,
  replies = t.replies + EXCLUDED.replies, quotes = t.quotes + EXCLUDED.quotes

-- differences
WITH keys AS MATERIALIZED (
  (SELECT actor_id, rkey FROM {post_stats}
   WHERE $1::int4 IS NULL OR (actor_id, rkey) >= (
     (SELECT skua.random_account_number()), 0)
   ORDER BY actor_id, rkey LIMIT $1::int4)
  UNION
  (SELECT actor_id, rkey FROM bsky.posts
   WHERE $1::int4 IS NULL OR (actor_id, rkey) >= ((SELECT skua.random_account_number()), 0)
   ORDER BY actor_id, rkey LIMIT $1::int4)
),
compared AS (
  SELECT k.actor_id, k.rkey, coalesce(t.likes, 0) AS likes, coalesce(t.reposts, 0) AS reposts,
    coalesce(t.replies, 0) AS replies, coalesce(t.quotes, 0) AS quotes,
    (SELECT count(DISTINCT l.actor_id) FROM bsky.likes AS l
     WHERE (l.subject_actor, l.subject_rkey, l.subject_collection) = (k.actor_id, k.rkey, 1)) AS all_likes,
    (SELECT count(DISTINCT r.actor_id) FROM bsky.reposts AS r
     WHERE (r.subject_actor, r.subject_rkey, r.subject_collection) = (k.actor_id, k.rkey, 1)) AS all_reposts,
    (SELECT count(*) FROM bsky.posts AS p WHERE (p.parent_actor, p.parent_rkey) = (k.actor_id, k.rkey))
      - (SELECT count(*) FROM bsky.post_rules AS v
         WHERE v.violates_threadgate AND (v.parent_actor, v.parent_rkey) = (k.actor_id, k.rkey)) AS all_replies,
    (SELECT count(*) FROM bsky.posts AS p
     WHERE (p.quote_actor, p.quote_rkey, p.quote_collection) = (k.actor_id, k.rkey, 1)) AS all_quotes
  FROM keys AS k LEFT JOIN {post_stats} AS t USING (actor_id, rkey)
)
SELECT format('%s: likes %s of %s, reposts %s of %s, replies %s of %s, quotes %s of %s', bsky.uri(actor_id, 1, rkey), likes,
  all_likes, reposts, all_reposts, replies, all_replies, quotes, all_quotes)
FROM compared WHERE (likes, reposts, replies, quotes) <> (all_likes, all_reposts, all_replies, all_quotes) LIMIT 10
