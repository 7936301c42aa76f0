-- Feeds: the newest posts and reposts of accounts.

-- The newest records of each account are read by record key, which is the order of the primary key. The result is sorted by
-- sort_at.
--
-- The newest max_rows items are by at most max_rows accounts: those with the newest records. With many accounts
-- the look-up of each account takes too long. Then `recent` first reads the newest posts of the whole network. If enough
-- of them are by these accounts, only records since then are needed (`since`).
CREATE OR REPLACE FUNCTION bsky.feed(account_ids int8[], max_rows int4 DEFAULT 50)
RETURNS TABLE (name text, text text, reposted_by text, sort_at timestamptz, uri text, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  WITH recent AS MATERIALIZED (
    SELECT n.actor_id, n.rkey, n.sort_at
    FROM (
      SELECT p.actor_id, p.rkey, least(p.created_at, p.indexed_at) AS sort_at FROM bsky.posts p
      WHERE p.cid IS NOT NULL AND cardinality(account_ids) > 200
      ORDER BY least(p.created_at, p.indexed_at) DESC LIMIT 5000
    ) n
    -- With IS TRUE PostgreSQL uses a hash table. A join could compare each row with each account, because PostgreSQL does not
    -- know the length of the array.
    WHERE (n.actor_id IN (SELECT unnest(account_ids))) IS TRUE
    ORDER BY n.sort_at DESC LIMIT max_rows + 10
  ),
  since AS MATERIALIZED (
    SELECT CASE WHEN count(*) = max_rows + 10 THEN min(r.sort_at) END AS sort_at FROM recent r
  ),
  items AS (
    SELECT r.actor_id, r.rkey, r.sort_at, NULL::int8 AS reposter FROM recent r
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
    -- A record key consists of the time in microseconds and 10 more bits.
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
  -- This keeps each post once, with its newest item.
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
COMMENT ON FUNCTION bsky.feed(int8[], int4) IS 'The newest posts and reposts of several accounts (bsky.actors.id), each post once, newest first. For a repost reposted_by is the account that reposted, and sort_at the time of the repost. The text is null if the post was not seen. At most max_rows rows.';

CREATE OR REPLACE FUNCTION bsky.timeline(account text, max_rows int4 DEFAULT 50)
RETURNS TABLE (name text, text text, reposted_by text, sort_at timestamptz, uri text, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  SELECT f.* FROM bsky.feed(ARRAY[bsky.actor_id(account)], max_rows) f
$$;
COMMENT ON FUNCTION bsky.timeline(text, int4) IS 'The posts and reposts of an account, newest first, as bsky.feed returns them. The account is a DID, a handle or a bsky.app URL. At most max_rows rows.';

CREATE OR REPLACE FUNCTION bsky.feed_of(account text, max_rows int4 DEFAULT 50)
RETURNS TABLE (name text, text text, reposted_by text, sort_at timestamptz, uri text, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  SELECT f.* FROM bsky.feed(
    ARRAY(SELECT DISTINCT f.subject_actor FROM bsky.follows f WHERE f.actor_id = (SELECT bsky.actor_id(account))), max_rows) f
$$;
COMMENT ON FUNCTION bsky.feed_of(text, int4) IS 'The newest posts and reposts of the accounts that an account follows, each post once, newest first, as bsky.feed returns them. The account is a DID, a handle or a bsky.app URL. At most max_rows rows.';
