-- projection: actor_stats
-- help: Followers, follows and posts of accounts
-- lanes: several

-- The roles in the statements are those of skua.change_log.ref_role.

-- table: actor_stats
actor_id int8 NOT NULL PRIMARY KEY, followers int4 NOT NULL, follows int4 NOT NULL, posts int4 NOT NULL

-- view
SELECT skua.declare_projection('actor_stats', 'actor_id int8, followers int4, follows int4, posts int4');
COMMENT ON VIEW bsky.actor_stats IS 'The followers, follows and posts of an account. Empty until `skua consumers add actor_stats` has built it. An account without a row has none.';
COMMENT ON COLUMN bsky.actor_stats.actor_id IS 'The account (bsky.actors.id).';
COMMENT ON COLUMN bsky.actor_stats.followers IS 'The number of accounts that follow it.';
COMMENT ON COLUMN bsky.actor_stats.follows IS 'The number of accounts that it follows.';
COMMENT ON COLUMN bsky.actor_stats.posts IS 'The number of its posts, including replies.';

-- fill
INSERT INTO {actor_stats} (actor_id, followers, follows, posts)
SELECT actor_id, sum(followers), sum(follows), sum(posts) FROM (
  SELECT subject_actor AS actor_id, count(DISTINCT actor_id) AS followers, 0 AS follows, 0 AS posts
  FROM bsky.follows GROUP BY 1
  UNION ALL
  SELECT actor_id, 0, count(DISTINCT subject_actor), 0 FROM bsky.follows GROUP BY 1
  UNION ALL
  SELECT actor_id, 0, 0, count(*) FROM bsky.posts WHERE cid IS NOT NULL GROUP BY 1
) AS counted GROUP BY 1

-- fold
INSERT INTO {actor_stats} AS t (actor_id, followers, follows, posts)
SELECT r.actor_id, coalesce(sum(r.delta) FILTER (WHERE r.role = 5), 0),
  coalesce(sum(r.delta) FILTER (WHERE r.role = 10), 0), coalesce(sum(r.delta) FILTER (WHERE r.role = 9), 0)
FROM skua.references_between($1::int8, $2::int8) AS r
WHERE r.role IN (5, 9, 10) AND r.delta <> 0 AND r.actor_id & ($4::int4 - 1) = $3::int4
GROUP BY 1 ORDER BY 1
ON CONFLICT (actor_id) DO UPDATE SET followers = t.followers + EXCLUDED.followers, follows = t.follows + EXCLUDED.follows,
  posts = t.posts + EXCLUDED.posts

-- differences
WITH keys AS MATERIALIZED (
  SELECT id AS actor_id FROM bsky.actors
  WHERE $1::int4 IS NULL OR id >= (SELECT skua.random_account_number()) ORDER BY id LIMIT $1::int4
),
compared AS (
  SELECT k.actor_id, coalesce(t.followers, 0) AS followers, coalesce(t.follows, 0) AS follows,
    coalesce(t.posts, 0) AS posts,
    (SELECT count(DISTINCT f.actor_id) FROM bsky.follows AS f WHERE f.subject_actor = k.actor_id) AS all_followers,
    (SELECT count(DISTINCT f.subject_actor) FROM bsky.follows AS f WHERE f.actor_id = k.actor_id) AS all_follows,
    (SELECT count(*) FROM bsky.posts AS p WHERE p.actor_id = k.actor_id AND p.cid IS NOT NULL) AS all_posts
  FROM keys AS k LEFT JOIN {actor_stats} AS t USING (actor_id)
)
SELECT format('%s: followers %s of %s, follows %s of %s, posts %s of %s', (SELECT did FROM bsky.actors WHERE id = actor_id),
  followers, all_followers, follows, all_follows, posts, all_posts)
FROM compared WHERE (followers, follows, posts) <> (all_followers, all_follows, all_posts) LIMIT 10
