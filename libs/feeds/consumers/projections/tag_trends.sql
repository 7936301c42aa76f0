-- projection: tag_trends
-- version: 2
-- help: Tags of posts, and the posts of each hour that have a tag

-- internal table: counted_tags
-- The counted tags of each post are stored, so that a fold can subtract them when the post changes.
rkey int8 NOT NULL, hour timestamptz NOT NULL, actor_id int8 NOT NULL, tag text NOT NULL, PRIMARY KEY (actor_id, rkey, tag)
-- index: (tag, hour)

-- view
SELECT skua.declare_projection('tag_trends', 'hour timestamptz, tag text, posts int4');
COMMENT ON VIEW bsky.tag_trends IS 'The number of posts with a tag in an hour. Empty until `skua consumers add tag_trends` has built it.';
COMMENT ON COLUMN bsky.tag_trends.hour IS 'The beginning of the hour, in UTC.';
COMMENT ON COLUMN bsky.tag_trends.tag IS 'The tag, in its normal form (bsky.normal_tag).';
COMMENT ON COLUMN bsky.tag_trends.posts IS 'The number of posts with the tag.';

-- table: tag_trends
hour timestamptz NOT NULL, posts int4 NOT NULL, tag text NOT NULL, PRIMARY KEY (hour, tag)

-- fragment: tags
SELECT p.actor_id, p.rkey, date_trunc('hour', least(p.created_at, p.indexed_at), 'UTC') AS hour, x.tag
FROM posts AS p CROSS JOIN LATERAL unnest(p.all_tags) AS x(tag)

-- fragment: count_new
new AS (INSERT INTO {counted_tags} (actor_id, rkey, hour, tag) {{tags}} ORDER BY 1, 2, 4 RETURNING hour, tag)
INSERT INTO {tag_trends} AS t (hour, tag, posts)
SELECT hour, tag, count(*) FROM new GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (hour, tag) DO UPDATE SET posts = t.posts + EXCLUDED.posts

-- fill
WITH posts AS NOT MATERIALIZED (SELECT * FROM bsky.posts),
{{count_new}}

-- fold
WITH old AS (
  DELETE FROM {counted_tags} AS t USING (SELECT DISTINCT actor_id, rkey FROM skua.changes_between($1::int8, $2::int8)
    WHERE kind = 1 AND collection_id = 1) AS c
  WHERE t.actor_id = c.actor_id AND t.rkey = c.rkey RETURNING t.hour, t.tag
)
INSERT INTO {tag_trends} AS t (hour, tag, posts) SELECT hour, tag, -count(*) FROM old GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (hour, tag) DO UPDATE SET posts = t.posts + EXCLUDED.posts

-- fold
WITH posts AS (
  SELECT t.* FROM (SELECT DISTINCT actor_id, rkey FROM skua.changes_between($1::int8, $2::int8)
    WHERE kind = 1 AND collection_id = 1) AS c
  CROSS JOIN LATERAL (SELECT * FROM bsky.posts AS p WHERE p.actor_id = c.actor_id AND p.rkey = c.rkey OFFSET 0) AS t
),
{{count_new}}

-- differences
WITH posts AS MATERIALIZED (
  SELECT * FROM bsky.posts
  WHERE $1::int4 IS NULL OR (actor_id, rkey) >= ((SELECT skua.random_account_number()), 0)
  ORDER BY actor_id, rkey LIMIT $1::int4
),
wanted AS MATERIALIZED ({{tags}}),
stored AS MATERIALIZED (
  SELECT t.* FROM posts AS p
  CROSS JOIN LATERAL (SELECT actor_id, rkey, hour, tag FROM {counted_tags} AS t
    WHERE t.actor_id = p.actor_id AND t.rkey = p.rkey OFFSET 0) AS t
),
tags AS MATERIALIZED (SELECT hour, tag, posts FROM {tag_trends} ORDER BY (SELECT random()) LIMIT $1::int4)
(SELECT 'missing: ' || w::text FROM (TABLE wanted EXCEPT TABLE stored) AS w
UNION ALL
SELECT 'not wanted: ' || s::text FROM (TABLE stored EXCEPT TABLE wanted) AS s
UNION ALL
SELECT format('%s %s: %s of %s', hour, tag, posts, number) FROM (
  SELECT *, (SELECT count(*) FROM {counted_tags} AS p WHERE p.hour = t.hour AND p.tag = t.tag) AS number FROM tags AS t
) AS counted WHERE posts <> number)
LIMIT 10
