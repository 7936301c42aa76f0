-- Feeds: the newest posts and reposts of accounts, by sort_at.

-- Most records are in the order of their keys (bsky.is_in_key_order), and are read by the primary key. The others have an index
-- by time. An account with many imports costs the reading of those that have newer keys than its newest other posts.
-- PL/pgSQL keeps the plans for the session.
CREATE OR REPLACE FUNCTION bsky.newest_posts(account_id int8, max_rows int4, before timestamptz DEFAULT NULL)
RETURNS TABLE (actor_id int8, rkey int8, sort_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 50 AS $$
DECLARE
  until CONSTANT timestamptz := coalesce(before, 'infinity');
BEGIN
  RETURN QUERY
  WITH in_key_order AS MATERIALIZED (
    SELECT t.actor_id, t.rkey, least(t.created_at, t.indexed_at) AS sort_at FROM bsky.posts t
    WHERE t.actor_id = account_id AND t.cid IS NOT NULL AND bsky.is_in_key_order(t.rkey, least(t.created_at, t.indexed_at))
      AND t.rkey < bsky.tid_at(until) + (60000000::int8 << 10) AND least(t.created_at, t.indexed_at) < until
    ORDER BY t.rkey DESC LIMIT max_rows
  ), last AS MATERIALIZED (
    SELECT min(k.rkey) AS rkey FROM in_key_order k
  )
  SELECT i.* FROM (
    SELECT * FROM in_key_order
    UNION ALL
    -- Their order by key differs from that by time by at most two minutes.
    SELECT t.actor_id, t.rkey, least(t.created_at, t.indexed_at) AS sort_at FROM bsky.posts t
    WHERE t.actor_id = account_id AND t.cid IS NOT NULL AND bsky.is_in_key_order(t.rkey, least(t.created_at, t.indexed_at)) AND least(t.created_at, t.indexed_at) < until
      AND t.rkey < (SELECT l.rkey FROM last l) AND t.rkey > (SELECT l.rkey - (120000000::int8 << 10) FROM last l)
    UNION ALL
    (SELECT t.actor_id, t.rkey, least(t.created_at, t.indexed_at) AS sort_at FROM bsky.posts t
     WHERE t.actor_id = account_id AND t.cid IS NOT NULL AND bsky.is_in_key_order(t.rkey, least(t.created_at, t.indexed_at)) IS NOT TRUE AND least(t.created_at, t.indexed_at) < until
     ORDER BY least(t.created_at, t.indexed_at) DESC LIMIT max_rows)
  ) i
  ORDER BY i.sort_at DESC, i.rkey DESC LIMIT max_rows;
END
$$;
COMMENT ON FUNCTION bsky.newest_posts(int8, int4, timestamptz) IS 'The keys of the newest posts of an account (bsky.actors.id) by sort_at, newest first, without stubs. With before only those whose sort_at is earlier. At most max_rows rows.';

CREATE OR REPLACE FUNCTION bsky.newest_reposts(account_id int8, max_rows int4, before timestamptz DEFAULT NULL)
RETURNS TABLE (actor_id int8, rkey int8, sort_at timestamptz, subject_actor int8, subject_rkey int8)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 50 AS $$
DECLARE
  until CONSTANT timestamptz := coalesce(before, 'infinity');
BEGIN
  RETURN QUERY
  WITH in_key_order AS MATERIALIZED (
    SELECT t.actor_id, t.rkey, t.sort_at, t.subject_actor, t.subject_rkey FROM bsky.feed_reposts t
    WHERE t.actor_id = account_id AND bsky.is_in_key_order(t.rkey, t.sort_at)
      AND t.rkey < bsky.tid_at(until) + (60000000::int8 << 10) AND t.sort_at < until
    ORDER BY t.rkey DESC LIMIT max_rows
  ), last AS MATERIALIZED (
    SELECT min(k.rkey) AS rkey FROM in_key_order k
  )
  SELECT i.* FROM (
    SELECT * FROM in_key_order
    UNION ALL
    -- Their order by key differs from that by time by at most two minutes.
    SELECT t.actor_id, t.rkey, t.sort_at, t.subject_actor, t.subject_rkey FROM bsky.feed_reposts t
    WHERE t.actor_id = account_id AND bsky.is_in_key_order(t.rkey, t.sort_at) AND t.sort_at < until
      AND t.rkey < (SELECT l.rkey FROM last l) AND t.rkey > (SELECT l.rkey - (120000000::int8 << 10) FROM last l)
    UNION ALL
    (SELECT t.actor_id, t.rkey, t.sort_at, t.subject_actor, t.subject_rkey FROM bsky.feed_reposts t
     WHERE t.actor_id = account_id AND bsky.is_in_key_order(t.rkey, t.sort_at) IS NOT TRUE AND t.sort_at < until
     ORDER BY t.sort_at DESC LIMIT max_rows)
  ) i
  ORDER BY i.sort_at DESC, i.rkey DESC LIMIT max_rows;
END
$$;
COMMENT ON FUNCTION bsky.newest_reposts(int8, int4, timestamptz) IS 'The newest reposts of an account (bsky.actors.id) by sort_at, newest first, as bsky.feed_reposts has them. With before only those whose sort_at is earlier. At most max_rows rows.';

-- The newest max_rows items are by at most max_rows accounts: those with the newest items (`accounts`). With many accounts
-- the look-up of each account takes too long. Then `recent` first reads the newest posts of the whole network. If enough
-- of them are by these accounts, only reposts since then are needed (`since`).
CREATE OR REPLACE FUNCTION bsky.feed(account_ids int8[], max_rows int4 DEFAULT 50, before timestamptz DEFAULT NULL)
RETURNS TABLE (name text, text text, reposted_by text, sort_at timestamptz, uri text, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  WITH recent AS MATERIALIZED (
    SELECT n.actor_id, n.rkey, n.sort_at
    FROM (
      SELECT p.actor_id, p.rkey, least(p.created_at, p.indexed_at) AS sort_at FROM bsky.posts p
      WHERE p.cid IS NOT NULL AND cardinality(account_ids) > 200 AND least(p.created_at, p.indexed_at) < coalesce(before, 'infinity')
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
  -- The time of the newest item of each account, or an earlier one by at most two minutes: the record with the highest key
  -- stands for those that are in the order of their keys.
  newest AS MATERIALIZED (
    SELECT a.id, greatest(
      (SELECT least(p.created_at, p.indexed_at) FROM bsky.posts p
       WHERE p.actor_id = a.id AND p.cid IS NOT NULL AND bsky.is_in_key_order(p.rkey, least(p.created_at, p.indexed_at))
         AND p.rkey < bsky.tid_at(coalesce(before, 'infinity')) + (60000000::int8 << 10)
         AND least(p.created_at, p.indexed_at) < coalesce(before, 'infinity')
       ORDER BY p.rkey DESC LIMIT 1),
      (SELECT least(p.created_at, p.indexed_at) FROM bsky.posts p
       WHERE p.actor_id = a.id AND p.cid IS NOT NULL AND bsky.is_in_key_order(p.rkey, least(p.created_at, p.indexed_at)) IS NOT TRUE
         AND least(p.created_at, p.indexed_at) < coalesce(before, 'infinity')
       ORDER BY least(p.created_at, p.indexed_at) DESC LIMIT 1),
      (SELECT r.sort_at FROM bsky.feed_reposts r
       WHERE r.actor_id = a.id AND bsky.is_in_key_order(r.rkey, r.sort_at)
         AND r.rkey < bsky.tid_at(coalesce(before, 'infinity')) + (60000000::int8 << 10) AND r.sort_at < coalesce(before, 'infinity')
       ORDER BY r.rkey DESC LIMIT 1),
      (SELECT r.sort_at FROM bsky.feed_reposts r
       WHERE r.actor_id = a.id AND bsky.is_in_key_order(r.rkey, r.sort_at) IS NOT TRUE AND r.sort_at < coalesce(before, 'infinity')
       ORDER BY r.sort_at DESC LIMIT 1)) AS sort_at
    FROM unnest(account_ids) AS a(id)
    WHERE (SELECT s.sort_at FROM since s) IS NULL AND cardinality(account_ids) > max_rows
  ),
  accounts AS MATERIALIZED (
    SELECT a.id FROM unnest(account_ids) AS a(id) WHERE cardinality(account_ids) <= max_rows
    UNION ALL
    SELECT n.id FROM newest n
    WHERE n.sort_at >= coalesce((SELECT w.sort_at FROM newest w ORDER BY w.sort_at DESC NULLS LAST OFFSET max_rows - 1 LIMIT 1),
                                '-infinity') - interval '2 minutes'
  ),
  items AS (
    SELECT r.actor_id, r.rkey, r.sort_at, NULL::int8 AS reposter FROM recent r
    WHERE (SELECT s.sort_at FROM since s) IS NOT NULL
    UNION ALL
    SELECT p.actor_id, p.rkey, p.sort_at, NULL FROM accounts a CROSS JOIN LATERAL bsky.newest_posts(a.id, max_rows, before) p
    UNION ALL
    SELECT r.subject_actor, r.subject_rkey, r.sort_at, r.actor_id
    FROM accounts a CROSS JOIN LATERAL bsky.newest_reposts(a.id, max_rows, before) r
    UNION ALL
    SELECT r.subject_actor, r.subject_rkey, r.sort_at, r.actor_id FROM bsky.feed_reposts r
    WHERE r.actor_id = ANY (account_ids) AND bsky.is_in_key_order(r.rkey, r.sort_at)
      AND r.rkey >= (SELECT bsky.tid_at(s.sort_at) - (60000000::int8 << 10) FROM since s WHERE s.sort_at IS NOT NULL)
      AND r.sort_at < coalesce(before, 'infinity')
    UNION ALL
    SELECT r.subject_actor, r.subject_rkey, r.sort_at, r.actor_id FROM bsky.feed_reposts r
    WHERE r.actor_id = ANY (account_ids) AND bsky.is_in_key_order(r.rkey, r.sort_at) IS NOT TRUE
      AND r.sort_at >= (SELECT s.sort_at FROM since s WHERE s.sort_at IS NOT NULL)
      AND r.sort_at < coalesce(before, 'infinity')
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
COMMENT ON FUNCTION bsky.feed(int8[], int4, timestamptz) IS 'The newest posts and reposts of several accounts (bsky.actors.id), each post once, newest first. For a repost reposted_by is the account that reposted, and sort_at the time of the repost. The text is null if the post was not seen. With before only the items whose sort_at is earlier. At most max_rows rows.';

CREATE OR REPLACE FUNCTION bsky.timeline(account text, max_rows int4 DEFAULT 50, before timestamptz DEFAULT NULL)
RETURNS TABLE (name text, text text, reposted_by text, sort_at timestamptz, uri text, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  SELECT f.* FROM bsky.feed(ARRAY[bsky.actor_id(account)], max_rows, before) f
$$;
COMMENT ON FUNCTION bsky.timeline(text, int4, timestamptz) IS 'The posts and reposts of an account, newest first, as bsky.feed returns them. The account is a DID, a handle or a bsky.app URL. With before only the items whose sort_at is earlier. At most max_rows rows.';

CREATE OR REPLACE FUNCTION bsky.feed_of(account text, max_rows int4 DEFAULT 50, before timestamptz DEFAULT NULL)
RETURNS TABLE (name text, text text, reposted_by text, sort_at timestamptz, uri text, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  SELECT f.* FROM bsky.feed(
    ARRAY(SELECT DISTINCT f.subject_actor FROM bsky.follows f WHERE f.actor_id = (SELECT bsky.actor_id(account))), max_rows, before) f
$$;
COMMENT ON FUNCTION bsky.feed_of(text, int4, timestamptz) IS 'The newest posts and reposts of the accounts that an account follows, each post once, newest first, as bsky.feed returns them. The account is a DID, a handle or a bsky.app URL. With before only the items whose sort_at is earlier. At most max_rows rows.';
