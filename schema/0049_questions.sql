-- Functions and views for questions of people: accounts by any of their names, records by any of their addresses, and
-- one row for each pair of an account and what it likes, reposts or follows.

-- ---- Names ----

-- Every view with a handle also has a name, which is never null. A view that is replaced keeps its columns, its grants
-- and the views that others have made of it; new columns stand last. Two views have a column `name` of their records.
DO $$
DECLARE
  v record;
  n record;
  columns text;
  column_name text;
BEGIN
  FOR v IN
    SELECT c.oid, c.relname, rtrim(pg_get_viewdef(c.oid), '; ') AS definition FROM pg_class AS c
    WHERE c.relnamespace = 'bsky'::regnamespace AND c.relkind = 'v' AND c.relname LIKE '%\_view'
  LOOP
    columns := '';
    FOR n IN
      SELECT m[1] AS alias, m[2] AS stem
      FROM regexp_matches(v.definition, '(\w+)\.handle(?: AS (\w+_)handle)?(?=[,\n])', 'g') AS m
      -- t is the table of records itself: verifications have the handle at the time.
      WHERE m[1] <> 't'
    LOOP
      column_name := coalesce(n.stem, '') || CASE WHEN v.relname IN ('lists_view', 'starter_packs_view') THEN 'author_name' ELSE 'name' END;
      columns := columns || format(E',\n coalesce(%I.handle, %1$I.did) AS %I', n.alias, column_name);
    END LOOP;
    CONTINUE WHEN columns = '';
    -- The FROM of the view itself stands at this distance from the margin, the ones of its subqueries do not.
    EXECUTE format('CREATE OR REPLACE VIEW bsky.%I AS %s', v.relname,
                   regexp_replace(v.definition, '\n   FROM ', replace(columns, '\', '\\') || E'\n   FROM '));
    FOR n IN
      SELECT a.attname AS name FROM pg_attribute AS a
      WHERE a.attrelid = v.oid AND a.attname IN ('name', 'author_name', 'subject_name', 'recipient_name') AND col_description(v.oid, a.attnum) IS NULL
    LOOP
      EXECUTE format('COMMENT ON COLUMN bsky.%I.%I IS %L', v.relname, n.name,
        CASE n.name
          WHEN 'subject_name' THEN 'The handle of the account that it is about, or its DID if the account has no handle.'
          WHEN 'recipient_name' THEN 'The handle of the notified account, or its DID if the account has no handle.'
          ELSE 'The handle of the account, or its DID if the account has no handle.' END);
    END LOOP;
  END LOOP;
END
$$;

CREATE FUNCTION bsky.at_uri(address text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN address LIKE 'https://bsky.app/%' THEN
    regexp_replace(regexp_replace(regexp_replace(regexp_replace(address,
      '^https://bsky\.app/profile/([^/?#]+)/post/([^/?#]+).*$', 'at://\1/app.bsky.feed.post/\2'),
      '^https://bsky\.app/profile/([^/?#]+)/feed/([^/?#]+).*$', 'at://\1/app.bsky.feed.generator/\2'),
      '^https://bsky\.app/profile/([^/?#]+)/lists/([^/?#]+).*$', 'at://\1/app.bsky.graph.list/\2'),
      '^https://bsky\.app/starter-pack/([^/?#]+)/([^/?#]+).*$', 'at://\1/app.bsky.graph.starterpack/\2')
    ELSE address END
$$;
COMMENT ON FUNCTION bsky.at_uri(text) IS 'The AT-URI of a bsky.app URL of a post, feed, list or starter pack. Any other text is returned unchanged.';

CREATE OR REPLACE FUNCTION bsky.actor_id(account text) RETURNS int4
LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN n.name LIKE 'did:%'
    THEN (SELECT a.id FROM bsky.actors a WHERE a.did = n.name)
    ELSE (SELECT a.id FROM bsky.actors a WHERE a.handle = lower(n.name)
          ORDER BY a.handle_time DESC NULLS LAST LIMIT 1) END
  FROM substring(account from '^(?:@+|at://|https://bsky\.app/profile/)?([^/?#]*)') AS n(name)
$$;
COMMENT ON FUNCTION bsky.actor_id(text) IS 'The number of an account, by DID, handle or bsky.app URL of its profile. If several accounts claim a handle: the last one to do so.';

CREATE OR REPLACE FUNCTION bsky.resolve_uri(uri text)
RETURNS TABLE (actor_id int4, collection_id int4, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT bsky.actor_id(split_part(bsky.at_uri(uri), '/', 3)), c.id, bsky.rkey_number(split_part(bsky.at_uri(uri), '/', 5))
  FROM bsky.collections c
  WHERE c.nsid = split_part(bsky.at_uri(uri), '/', 4) AND bsky.at_uri(uri) LIKE 'at://%'
    AND bsky.actor_id(split_part(bsky.at_uri(uri), '/', 3)) IS NOT NULL
$$;
COMMENT ON FUNCTION bsky.resolve_uri(text) IS 'The key of an AT-URI, by DID or handle, or of a bsky.app URL, for joining with the tables through their primary keys. No row if the account or the collection is not known.';

-- ---- Pairs ----

-- An account can like, repost or follow the same subject more than once. The record with the lowest key counts, which
-- is the oldest one. A condition on a column of the pair goes into the subquery and uses an index.
CREATE VIEW bsky.like_pairs AS
SELECT a.did,
       coalesce(a.handle, a.did) AS name,
       'at://' || a.did || '/app.bsky.feed.like/' || bsky.rkey_text(t.actor_id, 2, t.rkey) AS uri,
       bsky.uri(t.subject_actor, t.subject_collection, t.subject_rkey) AS subject_uri,
       t.sort_at,
       t.actor_id,
       t.rkey,
       t.subject_actor,
       t.subject_collection,
       t.subject_rkey
FROM (
  SELECT DISTINCT ON (l.actor_id, l.subject_actor, l.subject_collection, l.subject_rkey)
         l.actor_id, l.rkey, l.subject_actor, l.subject_collection, l.subject_rkey,
         least(l.created_at, l.indexed_at) AS sort_at
  FROM bsky.likes l
  WHERE l.subject_actor IS NOT NULL
  ORDER BY l.actor_id, l.subject_actor, l.subject_collection, l.subject_rkey, l.rkey
) t
JOIN bsky.actors a ON a.id = t.actor_id
WHERE a.active IS NOT FALSE;
COMMENT ON VIEW bsky.like_pairs IS 'Accounts and what they like: one row for each account and subject, of active accounts. bsky.likes_of returns those of one record.';

CREATE VIEW bsky.repost_pairs AS
SELECT a.did,
       coalesce(a.handle, a.did) AS name,
       'at://' || a.did || '/app.bsky.feed.repost/' || bsky.rkey_text(t.actor_id, 3, t.rkey) AS uri,
       bsky.uri(t.subject_actor, t.subject_collection, t.subject_rkey) AS subject_uri,
       t.sort_at,
       t.actor_id,
       t.rkey,
       t.subject_actor,
       t.subject_collection,
       t.subject_rkey
FROM (
  SELECT DISTINCT ON (l.actor_id, l.subject_actor, l.subject_collection, l.subject_rkey)
         l.actor_id, l.rkey, l.subject_actor, l.subject_collection, l.subject_rkey,
         least(l.created_at, l.indexed_at) AS sort_at
  FROM bsky.reposts l
  WHERE l.subject_actor IS NOT NULL
  ORDER BY l.actor_id, l.subject_actor, l.subject_collection, l.subject_rkey, l.rkey
) t
JOIN bsky.actors a ON a.id = t.actor_id
WHERE a.active IS NOT FALSE;
COMMENT ON VIEW bsky.repost_pairs IS 'Accounts and what they reposted: one row for each account and subject, of active accounts. bsky.reposts_of returns those of one record.';

CREATE VIEW bsky.follow_pairs AS
SELECT a.did,
       coalesce(a.handle, a.did) AS name,
       'at://' || a.did || '/app.bsky.graph.follow/' || bsky.rkey_text(t.actor_id, 7, t.rkey) AS uri,
       subject.did AS subject_did,
       coalesce(subject.handle, subject.did) AS subject_name,
       t.sort_at,
       t.actor_id,
       t.rkey,
       t.subject_actor
FROM (
  SELECT DISTINCT ON (f.actor_id, f.subject_actor)
         f.actor_id, f.rkey, f.subject_actor, least(f.created_at, f.indexed_at) AS sort_at
  FROM bsky.follows f
  ORDER BY f.actor_id, f.subject_actor, f.rkey
) t
JOIN bsky.actors a ON a.id = t.actor_id
JOIN bsky.actors subject ON subject.id = t.subject_actor
WHERE a.active IS NOT FALSE
  AND subject.active IS NOT FALSE;
COMMENT ON VIEW bsky.follow_pairs IS 'Accounts and the accounts that they follow: one row for each pair of active accounts. bsky.followers_of and bsky.follows_of return those of one account.';

DO $$
DECLARE
  v record;
BEGIN
  FOR v IN
    SELECT c.relname, a.attname, a.attrelid, a.attnum FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
    WHERE c.oid IN ('bsky.like_pairs'::regclass, 'bsky.repost_pairs'::regclass, 'bsky.follow_pairs'::regclass)
  LOOP
    EXECUTE format('COMMENT ON COLUMN bsky.%I.%I IS %L', v.relname, v.attname, CASE v.attname
      WHEN 'did' THEN 'The account.'
      WHEN 'name' THEN 'The handle of the account, or its DID if the account has no handle.'
      WHEN 'uri' THEN 'The record: AT-URI. If the account has several records for the subject: the one with the lowest key.'
      WHEN 'subject_uri' THEN 'The subject: AT-URI.'
      WHEN 'subject_did' THEN 'The followed account.'
      WHEN 'subject_name' THEN 'The handle of the followed account, or its DID if the account has no handle.'
      WHEN 'sort_at' THEN 'The earlier of the times at which the record was created and indexed.'
      WHEN 'actor_id' THEN 'The number of the account (bsky.actors.id).'
      WHEN 'rkey' THEN 'The key of the record, as a number.'
      WHEN 'subject_actor' THEN 'The account of the subject (bsky.actors.id).'
      WHEN 'subject_collection' THEN 'The collection of the subject (bsky.collections.id).'
      WHEN 'subject_rkey' THEN 'The key of the subject, as a number.' END);
  END LOOP;
END
$$;

-- ---- About a record ----

-- The key is a scalar subquery, so that it is computed once. PostgreSQL puts these functions in place of their calls: a
-- LIMIT ends the reading, and columns that the query does not select are not computed.
CREATE FUNCTION bsky.likes_of(address text)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int4, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.name, p.did, p.uri, p.sort_at, p.actor_id, p.rkey FROM bsky.like_pairs p
  WHERE (p.subject_actor, p.subject_collection, p.subject_rkey) = (
    SELECT k.actor_id, k.collection_id, k.rkey FROM bsky.resolve_uri(address) k)
$$;
COMMENT ON FUNCTION bsky.likes_of(text) IS 'The accounts that like a post, feed or labeler, each once, with the like (uri) and its time (sort_at). The record is an AT-URI or a bsky.app URL.';

CREATE FUNCTION bsky.reposts_of(address text)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int4, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.name, p.did, p.uri, p.sort_at, p.actor_id, p.rkey FROM bsky.repost_pairs p
  WHERE (p.subject_actor, p.subject_collection, p.subject_rkey) = (
    SELECT k.actor_id, k.collection_id, k.rkey FROM bsky.resolve_uri(address) k)
$$;
COMMENT ON FUNCTION bsky.reposts_of(text) IS 'The accounts that reposted a post, each once, with the repost (uri) and its time (sort_at). The post is an AT-URI or a bsky.app URL.';

CREATE FUNCTION bsky.replies_of(address text) RETURNS SETOF bsky.posts_view
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.* FROM bsky.posts_view p
  WHERE (p.parent_actor, p.parent_rkey) = (
    SELECT k.actor_id, k.rkey FROM bsky.resolve_uri(address) k WHERE k.collection_id = 1)
$$;
COMMENT ON FUNCTION bsky.replies_of(text) IS 'The direct replies to a post, as bsky.posts_view has them. The post is an AT-URI or a bsky.app URL. bsky.thread also returns the replies to replies.';

CREATE FUNCTION bsky.quotes_of(address text) RETURNS SETOF bsky.posts_view
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.* FROM bsky.posts_view p
  WHERE (p.quote_actor, p.quote_collection, p.quote_rkey) = (
    SELECT k.actor_id, k.collection_id, k.rkey FROM bsky.resolve_uri(address) k)
$$;
COMMENT ON FUNCTION bsky.quotes_of(text) IS 'The posts that quote a record, as bsky.posts_view has them. The record is an AT-URI or a bsky.app URL.';

-- A post has one parent. Therefore a cycle can only lead back to the first post, which stops it. The inner LIMIT ends the
-- recursion, which reads one level after the other, so that a long branch does not displace short ones.
CREATE FUNCTION bsky.thread(address text, max_depth int4 DEFAULT 20, max_posts int4 DEFAULT 500)
RETURNS TABLE (place int8, depth int4, name text, text text, uri text, sort_at timestamptz, actor_id int4, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100 AS $$
  WITH RECURSIVE first AS MATERIALIZED (
    SELECT k.actor_id, k.rkey FROM bsky.resolve_uri(address) k WHERE k.collection_id = 1
  ),
  tree AS (
    SELECT 0 AS depth, f.actor_id, f.rkey, NULL::timestamptz AS sort_at, NULL::text AS text, NULL::text AS did,
           NULL::text AS handle, '{}'::text[] AS path
    FROM first f
    UNION ALL
    SELECT t.depth + 1, p.actor_id, p.rkey, p.sort_at, p.text, p.did, p.handle,
           t.path || (to_char(p.sort_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS') || ' ' || p.actor_id || ' ' || p.rkey)
    FROM tree t
    JOIN LATERAL (
      SELECT c.actor_id, c.rkey, least(c.created_at, c.indexed_at) AS sort_at, c.text, a.did, a.handle
      FROM bsky.posts c
      JOIN bsky.actors a ON a.id = c.actor_id
      WHERE c.parent_actor = t.actor_id AND c.parent_rkey = t.rkey AND c.cid IS NOT NULL AND a.active IS NOT FALSE
      ORDER BY least(c.created_at, c.indexed_at)
      LIMIT max_posts
    ) p ON true
    WHERE t.depth < max_depth
      AND NOT EXISTS (SELECT FROM first f WHERE f.actor_id = p.actor_id AND f.rkey = p.rkey)
  ),
  posts AS (
    SELECT t.depth, coalesce(t.handle, t.did) AS name, t.text, t.did, t.sort_at, t.actor_id, t.rkey, t.path
    FROM (SELECT * FROM tree LIMIT max_posts) t
    WHERE t.depth > 0
    UNION ALL
    SELECT 0, p.name, p.text, p.did, p.sort_at, p.actor_id, p.rkey, '{}'::text[]
    FROM first f JOIN bsky.posts_view p ON p.actor_id = f.actor_id AND p.rkey = f.rkey
  )
  SELECT row_number() OVER (ORDER BY p.path), p.depth, p.name, p.text,
         'at://' || p.did || '/app.bsky.feed.post/' || bsky.rkey_text(p.actor_id, 1, p.rkey), p.sort_at, p.actor_id, p.rkey
  FROM posts p
  ORDER BY p.path
$$;
COMMENT ON FUNCTION bsky.thread(text, int4, int4) IS 'A post and the replies below it, as a tree: depth 0 is the post, depth 1 a reply to it. place numbers the posts from top to bottom; replies to the same post are sorted by time. At most max_depth levels and max_posts posts; upper levels come first. Replies to a post that is missing, deleted or of an inactive account are not below any other post, but the first post may be missing. The post is an AT-URI or a bsky.app URL.';

-- ---- About an account ----

CREATE FUNCTION bsky.followers_of(account text)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int4, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.name, p.did, p.uri, p.sort_at, p.actor_id, p.rkey FROM bsky.follow_pairs p
  WHERE p.subject_actor = (SELECT bsky.actor_id(account))
$$;
COMMENT ON FUNCTION bsky.followers_of(text) IS 'The active accounts that follow an account, each once, with the follow (uri) and its time (sort_at). The account is a DID, a handle or a bsky.app URL.';

CREATE FUNCTION bsky.follows_of(account text)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int4, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.subject_name, p.subject_did, p.uri, p.sort_at, p.subject_actor, p.rkey FROM bsky.follow_pairs p
  WHERE p.actor_id = (SELECT bsky.actor_id(account))
$$;
COMMENT ON FUNCTION bsky.follows_of(text) IS 'The active accounts that an account follows, each once, with the follow (uri, rkey) and its time (sort_at). actor_id is the followed account. The account is a DID, a handle or a bsky.app URL.';

CREATE FUNCTION bsky.mutuals_of(account text)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int4, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.name, p.did, p.uri, p.sort_at, p.actor_id, p.rkey FROM bsky.follow_pairs p
  WHERE p.subject_actor = (SELECT bsky.actor_id(account))
    -- IS TRUE keeps it a hash table. As a join it could become a comparison of each pair.
    AND (p.actor_id IN (SELECT f.subject_actor FROM bsky.follows f WHERE f.actor_id = (SELECT bsky.actor_id(account)))) IS TRUE
$$;
COMMENT ON FUNCTION bsky.mutuals_of(text) IS 'The active accounts that follow an account and that it follows, each once, with their follow (uri) and its time (sort_at). The account is a DID, a handle or a bsky.app URL.';

CREATE FUNCTION bsky.notifications_of(account text) RETURNS SETOF bsky.notifications_view
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT n.* FROM bsky.notifications_view n
  WHERE n.recipient = (SELECT bsky.actor_id(account))
  ORDER BY n.sort_at DESC
$$;
COMMENT ON FUNCTION bsky.notifications_of(text) IS 'The notifications of an account, newest first, as bsky.notifications_view has them. Empty until `skua consumers add notifications` has built them. The account is a DID, a handle or a bsky.app URL.';

-- The conditions are subqueries for each row, which look up keys: as joins they could read whole tables.
CREATE VIEW bsky.feed_reposts AS
SELECT r.actor_id, r.rkey, least(r.created_at, r.indexed_at) AS sort_at, r.subject_actor, r.subject_rkey
FROM bsky.reposts r
WHERE r.subject_collection = 1
  AND r.rkey = (SELECT min(d.rkey) FROM bsky.reposts d WHERE d.subject_actor = r.subject_actor
                  AND d.subject_rkey = r.subject_rkey AND d.actor_id = r.actor_id)
  AND (SELECT p.is_deleted FROM bsky.posts p WHERE p.actor_id = r.subject_actor AND p.rkey = r.subject_rkey) IS NOT TRUE
  AND (SELECT a.active FROM bsky.actors a WHERE a.id = r.subject_actor) IS NOT FALSE
  AND (SELECT a.active FROM bsky.actors a WHERE a.id = r.actor_id) IS NOT FALSE;
COMMENT ON VIEW bsky.feed_reposts IS 'The reposts that a feed shows: of active accounts, of posts that are not deleted and whose author is active, each post once for each account. Use it with a condition on actor_id.';
COMMENT ON COLUMN bsky.feed_reposts.actor_id IS 'The account that reposted (bsky.actors.id).';
COMMENT ON COLUMN bsky.feed_reposts.rkey IS 'The key of the repost, as a number.';
COMMENT ON COLUMN bsky.feed_reposts.sort_at IS 'The earlier of the times at which the repost was created and indexed.';
COMMENT ON COLUMN bsky.feed_reposts.subject_actor IS 'The author of the post (bsky.actors.id).';
COMMENT ON COLUMN bsky.feed_reposts.subject_rkey IS 'The key of the post, as a number.';

-- The posts and reposts of these accounts. Of each account the newest records are read by record key, which is the order
-- of the primary key; the result is sorted by sort_at.
--
-- The newest max_rows items are by at most max_rows accounts: those with the newest records. With many accounts even
-- that look-up of each account takes too long. Then `recent` first reads the newest posts of the whole network. If enough
-- of them are by these accounts, only records since then are needed (`since`).
CREATE FUNCTION bsky.feed(account_ids int4[], max_rows int4 DEFAULT 50)
RETURNS TABLE (name text, text text, reposted_by text, sort_at timestamptz, uri text, actor_id int4, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  WITH recent AS MATERIALIZED (
    SELECT n.actor_id, n.rkey, n.sort_at
    FROM (
      SELECT p.actor_id, p.rkey, least(p.created_at, p.indexed_at) AS sort_at FROM bsky.posts p
      WHERE p.cid IS NOT NULL AND cardinality(account_ids) > 200
      ORDER BY least(p.created_at, p.indexed_at) DESC LIMIT 5000
    ) n
    -- IS TRUE keeps it a hash table. As a join it could become a comparison with each account, because PostgreSQL does not
    -- know the length of the array.
    WHERE (n.actor_id IN (SELECT unnest(account_ids))) IS TRUE
    ORDER BY n.sort_at DESC LIMIT max_rows + 10
  ),
  since AS MATERIALIZED (
    SELECT CASE WHEN count(*) = max_rows + 10 THEN min(r.sort_at) END AS sort_at FROM recent r
  ),
  items AS (
    SELECT r.actor_id, r.rkey, r.sort_at, NULL::int4 AS reposter FROM recent r
    WHERE (SELECT s.sort_at FROM since s) IS NOT NULL
    UNION ALL
    SELECT p.actor_id, p.rkey, p.sort_at, NULL
    FROM (
      SELECT a.id, (SELECT max(p.rkey) FROM bsky.posts p WHERE p.actor_id = a.id AND p.cid IS NOT NULL) AS newest
      FROM unnest(account_ids) AS a(id)
      WHERE (SELECT s.sort_at FROM since s) IS NULL
      ORDER BY newest DESC NULLS LAST LIMIT max_rows
    ) a
    CROSS JOIN LATERAL (
      SELECT p.actor_id, p.rkey, least(p.created_at, p.indexed_at) AS sort_at FROM bsky.posts p
      WHERE p.actor_id = a.id AND p.cid IS NOT NULL ORDER BY p.rkey DESC LIMIT max_rows
    ) p
    UNION ALL
    -- A record key is the time of its record in microseconds, and 10 bits.
    SELECT r.subject_actor, r.subject_rkey, r.sort_at, r.actor_id FROM bsky.feed_reposts r
    WHERE r.actor_id = ANY (account_ids)
      AND r.rkey >= (SELECT (extract(epoch FROM s.sort_at) * 1000000)::int8 << 10 FROM since s WHERE s.sort_at IS NOT NULL)
    UNION ALL
    SELECT r.subject_actor, r.subject_rkey, r.sort_at, r.actor_id
    FROM (
      SELECT a.id, (SELECT max(r.rkey) FROM bsky.reposts r WHERE r.actor_id = a.id) AS newest
      FROM unnest(account_ids) AS a(id)
      WHERE (SELECT s.sort_at FROM since s) IS NULL
      ORDER BY newest DESC NULLS LAST LIMIT max_rows
    ) a
    CROSS JOIN LATERAL (
      SELECT r.* FROM bsky.feed_reposts r WHERE r.actor_id = a.id ORDER BY r.rkey DESC LIMIT max_rows
    ) r
  ),
  -- Each post once, with its newest item.
  posts AS (
    SELECT DISTINCT ON (i.actor_id, i.rkey) i.*
    FROM (SELECT * FROM items i ORDER BY i.sort_at DESC LIMIT 4 * max_rows) i
    ORDER BY i.actor_id, i.rkey, i.sort_at DESC
  )
  SELECT coalesce(a.handle, a.did), p.text, coalesce(r.handle, r.did), i.sort_at,
         'at://' || a.did || '/app.bsky.feed.post/' || bsky.rkey_text(i.actor_id, 1, i.rkey), i.actor_id, i.rkey
  FROM posts i
  JOIN bsky.actors a ON a.id = i.actor_id
  LEFT JOIN bsky.posts p ON p.actor_id = i.actor_id AND p.rkey = i.rkey
  LEFT JOIN bsky.actors r ON r.id = i.reposter
  WHERE a.active IS NOT FALSE
  ORDER BY i.sort_at DESC LIMIT max_rows
$$;
COMMENT ON FUNCTION bsky.feed(int4[], int4) IS 'The newest posts and reposts of several accounts (bsky.actors.id), each post once, newest first. For a repost reposted_by is the account that reposted, and sort_at the time of the repost. The text is null if the post was not seen. At most max_rows rows.';

CREATE FUNCTION bsky.timeline(account text, max_rows int4 DEFAULT 50)
RETURNS TABLE (name text, text text, reposted_by text, sort_at timestamptz, uri text, actor_id int4, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  SELECT f.* FROM bsky.feed(ARRAY[bsky.actor_id(account)], max_rows) f
$$;
COMMENT ON FUNCTION bsky.timeline(text, int4) IS 'The posts and reposts of an account, newest first, as bsky.feed returns them. The account is a DID, a handle or a bsky.app URL. At most max_rows rows.';

CREATE FUNCTION bsky.feed_of(account text, max_rows int4 DEFAULT 50)
RETURNS TABLE (name text, text text, reposted_by text, sort_at timestamptz, uri text, actor_id int4, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  SELECT f.* FROM bsky.feed(
    ARRAY(SELECT DISTINCT f.subject_actor FROM bsky.follows f WHERE f.actor_id = (SELECT bsky.actor_id(account))), max_rows) f
$$;
COMMENT ON FUNCTION bsky.feed_of(text, int4) IS 'The newest posts and reposts of the accounts that an account follows, each post once, newest first, as bsky.feed returns them. The account is a DID, a handle or a bsky.app URL. At most max_rows rows.';

-- ---- Texts ----

-- `skua index add search` creates the index. The configuration 'simple' suits all languages: it does not reduce words.
CREATE FUNCTION bsky.search(words text, max_rows int4 DEFAULT 50) RETURNS SETOF bsky.posts_view
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  SELECT p.* FROM (
    (SELECT t.actor_id, t.rkey, least(t.created_at, t.indexed_at) AS sort_at FROM bsky.posts t
     WHERE to_tsvector('simple', t.text) @@ websearch_to_tsquery('simple', words) AND t.cid IS NOT NULL
       AND (SELECT to_regclass('bsky.posts_search') IS NOT NULL)
     ORDER BY least(t.created_at, t.indexed_at) DESC LIMIT 2 * max_rows)
    UNION ALL
    (SELECT t.actor_id, t.rkey, t.sort_at
     FROM (SELECT n.actor_id, n.rkey, n.text, least(n.created_at, n.indexed_at) AS sort_at FROM bsky.posts n
           WHERE n.cid IS NOT NULL AND (SELECT to_regclass('bsky.posts_search') IS NULL)
           ORDER BY least(n.created_at, n.indexed_at) DESC LIMIT 5000) t
     WHERE to_tsvector('simple', t.text) @@ websearch_to_tsquery('simple', words)
     ORDER BY t.sort_at DESC LIMIT 2 * max_rows)
  ) k
  -- OFFSET makes it a look-up of each post.
  CROSS JOIN LATERAL (SELECT v.* FROM bsky.posts_view v WHERE v.actor_id = k.actor_id AND v.rkey = k.rkey OFFSET 0) p
  ORDER BY k.sort_at DESC LIMIT max_rows
$$;
COMMENT ON FUNCTION bsky.search(text, int4) IS 'Posts whose text contains words, newest first, as bsky.posts_view has them. The words are as websearch_to_tsquery reads them: all of them, "a phrase", or, -without. Without the index of `skua index add search` it searches the newest 5,000 posts only. At most max_rows rows.';

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'skua_reader') THEN
    PERFORM skua.grant_reader();
  END IF;
END
$$;
