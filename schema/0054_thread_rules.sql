-- Threads, replies and quotes by the rules of bsky.post_rules, a view of posts that joins fewer tables, and cheaper look-ups of names.

-- PostgreSQL plans a join of more than eight tables in parts (join_collapse_limit). A join with this view then reads all
-- posts. The view joins four tables, and looks up the accounts of the parent, the root and the quoted record for each row.
CREATE OR REPLACE VIEW bsky.posts_view AS
SELECT 'at://' || a.did || '/app.bsky.feed.post/' || bsky.rkey_text(t.actor_id, 1, t.rkey) AS uri,
       a.did,
       a.handle,
       t.text,
       t.langs,
       t.tags,
       t.labels,
       t.facets,
       t.embed,
       CASE WHEN t.parent_actor IS NOT NULL THEN
         'at://' || (SELECT parent.did FROM bsky.actors parent WHERE parent.id = t.parent_actor) || '/app.bsky.feed.post/'
           || bsky.rkey_text(t.parent_actor, 1, t.parent_rkey) END AS parent_uri,
       bsky.cid_text(t.parent_cid) AS parent_cid,
       CASE WHEN t.root_actor IS NOT NULL THEN
         'at://' || (SELECT root.did FROM bsky.actors root WHERE root.id = t.root_actor) || '/app.bsky.feed.post/'
           || bsky.rkey_text(t.root_actor, 1, t.root_rkey) END AS root_uri,
       bsky.cid_text(t.root_cid) AS root_cid,
       CASE WHEN t.quote_actor IS NOT NULL THEN
         'at://' || (SELECT quote.did FROM bsky.actors quote WHERE quote.id = t.quote_actor) || '/'
           || (SELECT quote_c.nsid FROM bsky.collections quote_c WHERE quote_c.id = t.quote_collection) || '/'
           || bsky.rkey_text(t.quote_actor, t.quote_collection, t.quote_rkey) END AS quote_uri,
       bsky.cid_text(t.quote_cid) AS quote_cid,
       least(t.created_at, t.indexed_at) AS sort_at,
       t.created_at,
       t.indexed_at,
       bsky.cid_text(t.cid) AS cid,
       bsky.tid_text(t.rev) AS rev,
       t.extra,
       t.actor_id,
       t.rkey,
       t.parent_actor,
       t.parent_rkey,
       t.root_actor,
       t.root_rkey,
       t.quote_actor,
       t.quote_collection,
       t.quote_rkey,
       CASE WHEN (SELECT bsky.is_current('post_stats')) THEN coalesce(stats.likes, 0) END AS likes,
       CASE WHEN (SELECT bsky.is_current('post_stats')) THEN coalesce(stats.reposts, 0) END AS reposts,
       CASE WHEN (SELECT bsky.is_current('post_stats')) THEN coalesce(stats.replies, 0) END AS replies,
       CASE WHEN (SELECT bsky.is_current('post_stats')) THEN coalesce(stats.quotes, 0) END AS quotes,
       CASE WHEN (SELECT bsky.is_current('post_rules')) THEN coalesce(rules.violates_threadgate, false) END AS violates_threadgate,
       CASE WHEN (SELECT bsky.is_current('post_rules')) THEN coalesce(rules.violates_embedding_rules, false) END AS violates_embedding_rules,
       CASE WHEN (SELECT bsky.is_current('post_rules')) THEN coalesce(rules.is_hidden, false) END AS is_hidden,
       CASE WHEN (SELECT bsky.is_current('post_rules')) THEN coalesce(rules.has_invalid_root, false) END AS has_invalid_root,
       t.mentions,
       t.all_tags,
       t.links,
       t.link_hosts,
       t.images_without_alt,
       t.has_video,
       coalesce(a.handle, a.did) AS name
FROM bsky.posts t
JOIN bsky.actors a ON a.id = t.actor_id
LEFT JOIN bsky.post_stats stats ON stats.actor_id = t.actor_id AND stats.rkey = t.rkey
LEFT JOIN bsky.post_rules rules ON rules.actor_id = t.actor_id AND rules.rkey = t.rkey
WHERE t.cid IS NOT NULL
  AND a.active IS NOT FALSE;

-- PL/pgSQL keeps the plan for the session. A function in SQL that is not put in place of its call is planned again for each
-- call in each statement.
CREATE OR REPLACE FUNCTION bsky.actor_id(account text) RETURNS int4
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
DECLARE
  name CONSTANT text := substring(account from '^(?:@+|at://|https://bsky\.app/profile/)?([^/?#]*)');
BEGIN
  IF name LIKE 'did:%' THEN
    RETURN (SELECT a.id FROM bsky.actors a WHERE a.did = name);
  END IF;
  RETURN (SELECT a.id FROM bsky.actors a WHERE a.handle = lower(name) ORDER BY a.handle_time DESC NULLS LAST LIMIT 1);
END
$$;

-- OFFSET keeps the look-up of the account one call.
CREATE OR REPLACE FUNCTION bsky.resolve_uri(uri text)
RETURNS TABLE (actor_id int4, collection_id int4, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT a.id, c.id, bsky.rkey_number(split_part(bsky.at_uri(uri), '/', 5))
  FROM bsky.collections c
  CROSS JOIN LATERAL (SELECT bsky.actor_id(split_part(bsky.at_uri(uri), '/', 3)) OFFSET 0) AS a(id)
  WHERE c.nsid = split_part(bsky.at_uri(uri), '/', 4) AND bsky.at_uri(uri) LIKE 'at://%' AND a.id IS NOT NULL
$$;

-- The rules are subqueries for each row, which look up the primary key: as joins they could read the whole table. They do
-- not depend on bsky.is_current: while the projection is behind, its rows are still the best answer.
DROP FUNCTION bsky.replies_of(text);
CREATE FUNCTION bsky.replies_of(address text, all_replies boolean DEFAULT false) RETURNS SETOF bsky.posts_view
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.* FROM bsky.posts_view p
  WHERE (p.parent_actor, p.parent_rkey) = (
      SELECT k.actor_id, k.rkey FROM bsky.resolve_uri(address) k WHERE k.collection_id = 1)
    AND (all_replies OR (SELECT r.violates_threadgate OR r.has_invalid_root FROM bsky.post_rules r
                         WHERE r.actor_id = p.actor_id AND r.rkey = p.rkey) IS NOT TRUE)
$$;
COMMENT ON FUNCTION bsky.replies_of(text, boolean) IS 'The direct replies to a post, as bsky.posts_view has them. Without those that violate the threadgate or have an invalid root (bsky.post_rules), unless all_replies is true. Hidden replies are there: is_hidden. The post is an AT-URI or a bsky.app URL. bsky.thread also returns the replies to replies.';

DROP FUNCTION bsky.quotes_of(text);
CREATE FUNCTION bsky.quotes_of(address text, all_quotes boolean DEFAULT false) RETURNS SETOF bsky.posts_view
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.* FROM bsky.posts_view p
  WHERE (p.quote_actor, p.quote_collection, p.quote_rkey) = (
      SELECT k.actor_id, k.collection_id, k.rkey FROM bsky.resolve_uri(address) k)
    AND (all_quotes OR (SELECT r.violates_embedding_rules FROM bsky.post_rules r
                        WHERE r.actor_id = p.actor_id AND r.rkey = p.rkey) IS NOT TRUE)
$$;
COMMENT ON FUNCTION bsky.quotes_of(text, boolean) IS 'The posts that quote a record, as bsky.posts_view has them. Without those that violate the postgate of the quoted post (bsky.post_rules), unless all_quotes is true. The record is an AT-URI or a bsky.app URL.';

-- A post has one parent. Therefore a cycle can only lead back to the first post, which stops it. The LIMIT of `posts` ends
-- the recursion, which reads one level after the other, so that a long branch does not displace short ones.
DROP FUNCTION bsky.thread(text, int4, int4);
CREATE FUNCTION bsky.thread(address text, max_depth int4 DEFAULT 20, max_posts int4 DEFAULT 500, all_replies boolean DEFAULT false)
RETURNS TABLE (place int8, depth int4, name text, text text, uri text, sort_at timestamptz, actor_id int4, rkey int8, validity text)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100 AS $$
  WITH RECURSIVE first AS MATERIALIZED (
    SELECT k.actor_id, k.rkey,
           all_replies OR (SELECT r.violates_threadgate FROM bsky.post_rules r
                           WHERE r.actor_id = k.actor_id AND r.rkey = k.rkey) IS NOT TRUE AS has_replies
    FROM bsky.resolve_uri(address) k WHERE k.collection_id = 1
  ),
  tree AS (
    SELECT 0 AS depth, f.actor_id, f.rkey, p.sort_at, p.text, p.did, p.handle, '{}'::text[] AS path
    FROM first f
    -- The first post may be missing.
    LEFT JOIN LATERAL (
      SELECT least(c.created_at, c.indexed_at) AS sort_at, c.text, a.did, a.handle
      FROM bsky.posts c
      JOIN bsky.actors a ON a.id = c.actor_id
      WHERE c.actor_id = f.actor_id AND c.rkey = f.rkey AND c.cid IS NOT NULL AND a.active IS NOT FALSE
    ) p ON true
    UNION ALL
    SELECT t.depth + 1, p.actor_id, p.rkey, p.sort_at, p.text, p.did, p.handle,
           t.path || (to_char(p.sort_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS') || ' ' || p.actor_id || ' ' || p.rkey)
    FROM tree t
    JOIN LATERAL (
      SELECT c.actor_id, c.rkey, least(c.created_at, c.indexed_at) AS sort_at, c.text, a.did, a.handle
      FROM bsky.posts c
      JOIN bsky.actors a ON a.id = c.actor_id
      WHERE c.parent_actor = t.actor_id AND c.parent_rkey = t.rkey AND c.cid IS NOT NULL AND a.active IS NOT FALSE
        AND (all_replies OR (SELECT r.violates_threadgate OR r.has_invalid_root FROM bsky.post_rules r
                             WHERE r.actor_id = c.actor_id AND r.rkey = c.rkey) IS NOT TRUE)
      ORDER BY least(c.created_at, c.indexed_at)
      LIMIT max_posts
    ) p ON true
    WHERE t.depth < max_depth
      AND (SELECT f.has_replies FROM first f)
      AND NOT EXISTS (SELECT FROM first f WHERE f.actor_id = p.actor_id AND f.rkey = p.rkey)
  ),
  posts AS (
    SELECT * FROM tree LIMIT max_posts
  )
  SELECT row_number() OVER (ORDER BY p.path), p.depth, coalesce(p.handle, p.did), p.text,
         'at://' || p.did || '/app.bsky.feed.post/' || bsky.rkey_text(p.actor_id, 1, p.rkey), p.sort_at, p.actor_id, p.rkey,
         coalesce((
           SELECT nullif(concat_ws(', ', CASE WHEN r.violates_threadgate THEN 'violates_threadgate' END,
                                   CASE WHEN r.has_invalid_root THEN 'has_invalid_root' END,
                                   CASE WHEN r.is_hidden THEN 'is_hidden' END,
                                   CASE WHEN r.violates_embedding_rules THEN 'violates_embedding_rules' END), '')
           FROM bsky.post_rules r WHERE r.actor_id = p.actor_id AND r.rkey = p.rkey),
           CASE WHEN (SELECT bsky.is_current('post_rules')) THEN 'valid' END)
  FROM posts p
  WHERE p.did IS NOT NULL
  ORDER BY p.path
$$;
COMMENT ON FUNCTION bsky.thread(text, int4, int4, boolean) IS 'A post and the replies below it, as a tree: depth 0 is the post, depth 1 a reply to it. place numbers the posts from top to bottom; replies to the same post are sorted by time. Replies that violate the threadgate or have an invalid root, and the posts below them, are left out unless all_replies is true; nothing is below a first post that violates the threadgate. validity is valid, or the columns of bsky.post_rules that are true, such as is_hidden; null if no rule is known to be broken and the projection post_rules is not current. At most max_depth levels and max_posts posts; upper levels come first. Replies to a post that is missing, deleted or of an inactive account are not below any other post, but the first post may be missing. The post is an AT-URI or a bsky.app URL.';

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'skua_reader') THEN
    PERFORM skua.grant_reader();
  END IF;
END
$$;
