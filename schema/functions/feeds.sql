-- Feeds: the newest posts and reposts of accounts, by sort_at.

-- Most records are in the order of their keys (bsky.is_in_key_order), and are read by the primary key. The others have an index
-- by time. An account with many imports costs the reading of those that have newer keys than its newest other posts.
-- PL/pgSQL keeps the plans for the session.
CREATE OR REPLACE FUNCTION bsky.newest_posts(account_id int8, max_rows int4, before timestamptz DEFAULT NULL, last_rkey int8 DEFAULT NULL)
RETURNS TABLE (actor_id int8, rkey int8, sort_at timestamptz)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 50 AS $$
DECLARE
  until CONSTANT timestamptz := coalesce(before, 'infinity');
  until_rkey CONSTANT int8 := coalesce(last_rkey, -9223372036854775808);
BEGIN
  RETURN QUERY
  WITH in_key_order AS MATERIALIZED (
    SELECT t.actor_id, t.rkey, least(t.created_at, t.indexed_at) AS sort_at FROM bsky.posts t
    WHERE t.actor_id = account_id AND t.cid IS NOT NULL AND bsky.is_in_key_order(t.rkey, least(t.created_at, t.indexed_at))
      AND t.rkey < bsky.tid_at(until) + (61000000::int8 << 10) AND (least(t.created_at, t.indexed_at), t.rkey) < (until, until_rkey)
    ORDER BY t.rkey DESC LIMIT max_rows
  ), last AS MATERIALIZED (
    SELECT min(k.rkey) AS rkey FROM in_key_order k
  )
  SELECT i.* FROM (
    SELECT * FROM in_key_order
    UNION ALL
    -- Their order by key differs from that by time by at most two minutes.
    SELECT t.actor_id, t.rkey, least(t.created_at, t.indexed_at) AS sort_at FROM bsky.posts t
    WHERE t.actor_id = account_id AND t.cid IS NOT NULL AND bsky.is_in_key_order(t.rkey, least(t.created_at, t.indexed_at))
      AND (least(t.created_at, t.indexed_at), t.rkey) < (until, until_rkey)
      AND t.rkey < (SELECT l.rkey FROM last l) AND t.rkey > (SELECT l.rkey - (121000000::int8 << 10) FROM last l)
    UNION ALL
    (SELECT t.actor_id, t.rkey, least(t.created_at, t.indexed_at) AS sort_at FROM bsky.posts t
     WHERE t.actor_id = account_id AND t.cid IS NOT NULL AND bsky.is_in_key_order(t.rkey, least(t.created_at, t.indexed_at)) IS NOT TRUE
       AND least(t.created_at, t.indexed_at) <= until AND (least(t.created_at, t.indexed_at), t.rkey) < (until, until_rkey)
     ORDER BY least(t.created_at, t.indexed_at) DESC, t.rkey DESC LIMIT max_rows)
  ) i
  ORDER BY i.sort_at DESC, i.rkey DESC LIMIT max_rows;
END
$$;
COMMENT ON FUNCTION bsky.newest_posts(int8, int4, timestamptz, int8) IS 'The keys of the newest posts of an account (bsky.actors.id) by sort_at, newest first, without stubs. With before only those whose sort_at is earlier. With last_rkey, the key of the last row of a page, also those with an equal sort_at that follow it. At most max_rows rows.';

CREATE OR REPLACE FUNCTION bsky.newest_reposts(account_id int8, max_rows int4, before timestamptz DEFAULT NULL, last_actor int8 DEFAULT NULL,
  last_rkey int8 DEFAULT NULL)
RETURNS TABLE (actor_id int8, rkey int8, sort_at timestamptz, subject_actor int8, subject_rkey int8)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 50 AS $$
DECLARE
  until CONSTANT timestamptz := coalesce(before, 'infinity');
  until_actor CONSTANT int8 := coalesce(last_actor, -9223372036854775808);
  until_rkey CONSTANT int8 := coalesce(last_rkey, -9223372036854775808);
BEGIN
  RETURN QUERY
  WITH in_key_order AS MATERIALIZED (
    SELECT t.actor_id, t.rkey, t.sort_at, t.subject_actor, t.subject_rkey FROM bsky.feed_reposts t
    WHERE t.actor_id = account_id AND bsky.is_in_key_order(t.rkey, t.sort_at) AND t.rkey < bsky.tid_at(until) + (61000000::int8 << 10)
      AND (t.sort_at, t.subject_actor, t.subject_rkey) < (until, until_actor, until_rkey)
    ORDER BY t.rkey DESC LIMIT max_rows
  ), last AS MATERIALIZED (
    SELECT min(k.rkey) AS rkey FROM in_key_order k
  )
  SELECT i.* FROM (
    SELECT * FROM in_key_order
    UNION ALL
    -- Their order by key differs from that by time by at most two minutes.
    SELECT t.actor_id, t.rkey, t.sort_at, t.subject_actor, t.subject_rkey FROM bsky.feed_reposts t
    WHERE t.actor_id = account_id AND bsky.is_in_key_order(t.rkey, t.sort_at)
      AND (t.sort_at, t.subject_actor, t.subject_rkey) < (until, until_actor, until_rkey)
      AND t.rkey < (SELECT l.rkey FROM last l) AND t.rkey > (SELECT l.rkey - (121000000::int8 << 10) FROM last l)
    UNION ALL
    (SELECT t.actor_id, t.rkey, t.sort_at, t.subject_actor, t.subject_rkey FROM bsky.feed_reposts t
     WHERE t.actor_id = account_id AND bsky.is_in_key_order(t.rkey, t.sort_at) IS NOT TRUE AND t.sort_at <= until
       AND (t.sort_at, t.subject_actor, t.subject_rkey) < (until, until_actor, until_rkey)
     ORDER BY t.sort_at DESC, t.subject_actor DESC, t.subject_rkey DESC LIMIT max_rows)
  ) i
  ORDER BY i.sort_at DESC, i.subject_actor DESC, i.subject_rkey DESC LIMIT max_rows;
END
$$;
COMMENT ON FUNCTION bsky.newest_reposts(int8, int4, timestamptz, int8, int8) IS 'The newest reposts of an account (bsky.actors.id) by sort_at, newest first, as bsky.feed_reposts has them. With before only those whose sort_at is earlier. With last_actor and last_rkey, the subject_actor and subject_rkey of the last row of a page, also those with an equal sort_at that follow it. At most max_rows rows.';

-- The newest items of several accounts in the order of pages: a post or repost has its own sort_at, and the key of the post.
--
-- The newest max_items items are by at most max_items accounts: those with the newest items (`accounts`). With many accounts
-- the look-up of each account takes too long. Then `recent` first reads the newest posts of the whole network. If enough
-- of them are by these accounts, only reposts since the last of these posts are needed (`since`).
CREATE OR REPLACE FUNCTION skua.feed_items(account_ids int8[], max_items int4, until timestamptz, until_actor int8, until_rkey int8)
RETURNS TABLE (sort_at timestamptz, actor_id int8, rkey int8, reposter int8)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 60 AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH recent AS MATERIALIZED (
    SELECT n.sort_at, n.actor_id, n.rkey
    FROM (
      SELECT least(p.created_at, p.indexed_at) AS sort_at, p.actor_id, p.rkey FROM bsky.posts p
      WHERE p.cid IS NOT NULL AND cardinality(account_ids) > 200 AND least(p.created_at, p.indexed_at) <= until
        AND (least(p.created_at, p.indexed_at), p.actor_id, p.rkey) < (until, until_actor, until_rkey)
      ORDER BY least(p.created_at, p.indexed_at) DESC, p.actor_id DESC, p.rkey DESC LIMIT 5000
    ) n
    -- With IS TRUE PostgreSQL uses a hash table. A join could compare each row with each account, because PostgreSQL does not
    -- know the length of the array.
    WHERE (n.actor_id IN (SELECT unnest(account_ids))) IS TRUE
    ORDER BY n.sort_at DESC, n.actor_id DESC, n.rkey DESC LIMIT max_items
  ),
  since AS MATERIALIZED (
    SELECT r.* FROM recent r ORDER BY r.sort_at DESC, r.actor_id DESC, r.rkey DESC OFFSET max_items - 1 LIMIT 1
  ),
  -- The time of the newest item of each account, or an earlier one by at most two minutes: the record with the highest key
  -- stands for those that are in the order of their keys.
  newest AS MATERIALIZED (
    SELECT a.id, greatest(
      (SELECT least(p.created_at, p.indexed_at) FROM bsky.posts p
       WHERE p.actor_id = a.id AND p.cid IS NOT NULL AND bsky.is_in_key_order(p.rkey, least(p.created_at, p.indexed_at))
         AND p.rkey < bsky.tid_at(until) + (61000000::int8 << 10)
         AND (least(p.created_at, p.indexed_at), p.actor_id, p.rkey) < (until, until_actor, until_rkey)
       ORDER BY p.rkey DESC LIMIT 1),
      (SELECT least(p.created_at, p.indexed_at) FROM bsky.posts p
       WHERE p.actor_id = a.id AND p.cid IS NOT NULL AND bsky.is_in_key_order(p.rkey, least(p.created_at, p.indexed_at)) IS NOT TRUE
         AND least(p.created_at, p.indexed_at) <= until
         AND (least(p.created_at, p.indexed_at), p.actor_id, p.rkey) < (until, until_actor, until_rkey)
       ORDER BY least(p.created_at, p.indexed_at) DESC LIMIT 1),
      (SELECT r.sort_at FROM bsky.feed_reposts r
       WHERE r.actor_id = a.id AND bsky.is_in_key_order(r.rkey, r.sort_at) AND r.rkey < bsky.tid_at(until) + (61000000::int8 << 10)
         AND (r.sort_at, r.subject_actor, r.subject_rkey) < (until, until_actor, until_rkey)
       ORDER BY r.rkey DESC LIMIT 1),
      (SELECT r.sort_at FROM bsky.feed_reposts r
       WHERE r.actor_id = a.id AND bsky.is_in_key_order(r.rkey, r.sort_at) IS NOT TRUE AND r.sort_at <= until
         AND (r.sort_at, r.subject_actor, r.subject_rkey) < (until, until_actor, until_rkey)
       ORDER BY r.sort_at DESC LIMIT 1)) AS sort_at
    FROM unnest(account_ids) AS a(id)
    WHERE (SELECT s.sort_at FROM since s) IS NULL AND cardinality(account_ids) > max_items
  ),
  accounts AS MATERIALIZED (
    SELECT a.id FROM unnest(account_ids) AS a(id)
    WHERE (cardinality(account_ids) <= max_items) IS NOT FALSE AND (SELECT s.sort_at FROM since s) IS NULL
    UNION ALL
    SELECT n.id FROM newest n
    WHERE n.sort_at >= coalesce((SELECT w.sort_at FROM newest w ORDER BY w.sort_at DESC NULLS LAST OFFSET max_items - 1 LIMIT 1),
                                '-infinity') - interval '2 minutes'
  )
  SELECT i.* FROM (
    SELECT r.sort_at, r.actor_id, r.rkey, NULL::int8 AS reposter FROM recent r
    WHERE (SELECT s.sort_at FROM since s) IS NOT NULL
    UNION ALL
    SELECT p.sort_at, p.actor_id, p.rkey, NULL
    FROM accounts a CROSS JOIN LATERAL bsky.newest_posts(a.id, max_items, until,
      CASE WHEN a.id < until_actor THEN 9223372036854775807 WHEN a.id = until_actor THEN until_rkey END) p
    UNION ALL
    SELECT r.sort_at, r.subject_actor, r.subject_rkey, r.actor_id
    FROM accounts a CROSS JOIN LATERAL bsky.newest_reposts(a.id, max_items, until, until_actor, until_rkey) r
    UNION ALL
    SELECT r.sort_at, r.subject_actor, r.subject_rkey, r.actor_id FROM bsky.feed_reposts r
    WHERE r.actor_id = ANY (account_ids) AND bsky.is_in_key_order(r.rkey, r.sort_at)
      AND r.rkey >= (SELECT bsky.tid_at(s.sort_at) - (61000000::int8 << 10) FROM since s)
      AND (r.sort_at, r.subject_actor, r.subject_rkey) >= (SELECT s.sort_at, s.actor_id, s.rkey FROM since s)
      AND (r.sort_at, r.subject_actor, r.subject_rkey) < (until, until_actor, until_rkey)
    UNION ALL
    SELECT r.sort_at, r.subject_actor, r.subject_rkey, r.actor_id FROM bsky.feed_reposts r
    WHERE r.actor_id = ANY (account_ids) AND bsky.is_in_key_order(r.rkey, r.sort_at) IS NOT TRUE
      AND r.sort_at >= (SELECT s.sort_at FROM since s) AND r.sort_at <= until
      AND (r.sort_at, r.subject_actor, r.subject_rkey) >= (SELECT s.sort_at, s.actor_id, s.rkey FROM since s)
      AND (r.sort_at, r.subject_actor, r.subject_rkey) < (until, until_actor, until_rkey)
  ) i
  ORDER BY i.sort_at DESC, i.actor_id DESC, i.rkey DESC LIMIT CASE WHEN (SELECT s.sort_at FROM since s) IS NULL THEN max_items END;
END
$$;
COMMENT ON FUNCTION skua.feed_items(int8[], int4, timestamptz, int8, int8) IS 'The newest posts and reposts of several accounts (bsky.actors.id), newest first: those with a smaller (sort_at, actor_id, rkey) than the end of a page (skua.page_end). The key is that of the post. A post can be there several times, and posts of inactive accounts are. At least max_items rows, if there are so many.';

-- Items that are not shown do not count. Therefore the function reads items until it has enough rows. Each post is shown once, with
-- its newest item: a repeated item is one with a newer item of the same post among those that were read, or above the end of
-- the page.
CREATE OR REPLACE FUNCTION skua.read_feed(account_ids int8[], max_rows int4, before timestamptz, last_uri text, has_viewer boolean,
  viewer_id int8, is_home boolean)
RETURNS TABLE (name text, text text, reposted_by text, sort_at timestamptz, uri text, actor_id int8, rkey int8)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 50 AS $$
#variable_conflict use_column
DECLARE
  size int4 := least(max_rows, 1000000000) + 10;
  page_end record;
  passed int4;
  shown int4 := 0;
  item record;
BEGIN
  IF max_rows <= 0 THEN
    RETURN;
  END IF;
  SELECT e.* INTO page_end FROM skua.page_end(before, last_uri) e;
  LOOP
    passed := 0;
    FOR item IN
      WITH items AS MATERIALIZED (
        SELECT i.*, row_number() OVER (PARTITION BY i.actor_id, i.rkey ORDER BY i.sort_at DESC, i.reposter NULLS FIRST) AS place
        FROM skua.feed_items(account_ids, size, page_end.sort_at, page_end.actor_id, page_end.rkey) i
      )
      SELECT i.sort_at, i.actor_id, i.rkey, i.reposter, a.did, coalesce(a.handle, a.did) AS name, p.text, p.parent_actor, p.parent_rkey,
             coalesce(r.handle, r.did) AS reposted_by,
             a.active IS NOT FALSE AND i.place = 1 AND CASE WHEN page_end.sort_at < 'infinity' THEN
               NOT (i.reposter IS NOT NULL AND (i.actor_id IN (SELECT unnest(account_ids))) IS TRUE
                    AND (p.sort_at, i.actor_id, i.rkey) >= (page_end.sort_at, page_end.actor_id, page_end.rkey))
               AND (SELECT true FROM bsky.feed_reposts n
                    WHERE n.subject_actor = i.actor_id AND n.subject_rkey = i.rkey AND n.actor_id = ANY (account_ids)
                      AND (n.sort_at, i.actor_id, i.rkey) >= (page_end.sort_at, page_end.actor_id, page_end.rkey)
                      AND cardinality(account_ids) <= 50 LIMIT 1) IS NULL
               AND (SELECT true FROM bsky.feed_reposts n
                    WHERE n.subject_actor = i.actor_id AND n.subject_rkey = i.rkey AND (n.actor_id IN (SELECT unnest(account_ids))) IS TRUE
                      AND (n.sort_at, i.actor_id, i.rkey) >= (page_end.sort_at, page_end.actor_id, page_end.rkey)
                      AND cardinality(account_ids) > 50 LIMIT 1) IS NULL
               ELSE true END AS is_shown
      FROM items i
      JOIN bsky.actors a ON a.id = i.actor_id
      LEFT JOIN LATERAL (
        SELECT p.text, p.parent_actor, p.parent_rkey, least(p.created_at, p.indexed_at) AS sort_at
        FROM bsky.posts p WHERE p.actor_id = i.actor_id AND p.rkey = i.rkey OFFSET 0) p ON true
      LEFT JOIN bsky.actors r ON r.id = i.reposter
      ORDER BY i.sort_at DESC, i.actor_id DESC, i.rkey DESC
    LOOP
      passed := passed + 1;
      CONTINUE WHEN NOT item.is_shown OR (has_viewer AND (
        bsky.is_hidden_from(viewer_id, item.actor_id, 1, item.rkey)
        OR (item.reposter IS NOT NULL AND bsky.is_hidden_from(viewer_id, item.reposter, 0, 0))
        OR (is_home AND (bsky.is_blocked(viewer_id, item.parent_actor) OR bsky.is_blocked(viewer_id, (
          SELECT a.parent_actor FROM bsky.posts a WHERE a.actor_id = item.parent_actor AND a.rkey = item.parent_rkey))))));
      name := item.name; text := item.text; reposted_by := item.reposted_by; sort_at := item.sort_at;
      uri := 'at://' || item.did || '/app.bsky.feed.post/' || bsky.rkey_text(item.actor_id, 1, item.rkey);
      actor_id := item.actor_id; rkey := item.rkey;
      RETURN NEXT;
      shown := shown + 1;
      IF shown = max_rows THEN
        RETURN;
      END IF;
    END LOOP;
    EXIT WHEN size IS NULL OR passed < size;
    page_end := item;
    size := greatest(size, least(size * 2::int8, 10000));
  END LOOP;
END
$$;
COMMENT ON FUNCTION skua.read_feed(int8[], int4, timestamptz, text, boolean, int8, boolean) IS 'The rows of bsky.feed. If has_viewer is true, only those that a viewer (bsky.actors.id; null: a person who is not signed in) sees: without posts and reposts by accounts that the viewer does not see (bsky.is_hidden_from). If is_home is true, also without replies whose parent, or the parent of that post, is by an account that the viewer blocks or that blocks the viewer.';

CREATE OR REPLACE FUNCTION bsky.feed(account_ids int8[], max_rows int4 DEFAULT 50, before timestamptz DEFAULT NULL, last_uri text DEFAULT NULL)
RETURNS TABLE (name text, text text, reposted_by text, sort_at timestamptz, uri text, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  SELECT f.* FROM skua.read_feed(account_ids, max_rows, before, last_uri, false, NULL, false) f
$$;
COMMENT ON FUNCTION bsky.feed(int8[], int4, timestamptz, text) IS 'The newest posts and reposts of several accounts (bsky.actors.id), newest first, each post once with its newest item. For a repost reposted_by is the account that reposted, and sort_at the time of the repost. Reposts of posts that Skua does not have are left out, as in the reference AppView. before and last_uri, the sort_at and uri of the last row of a page: only the rows after it; with before alone those whose sort_at is earlier. At most max_rows rows.';

CREATE OR REPLACE FUNCTION bsky.timeline(account text, max_rows int4 DEFAULT 50, before timestamptz DEFAULT NULL, viewer text DEFAULT NULL,
  last_uri text DEFAULT NULL)
RETURNS TABLE (name text, text text, reposted_by text, sort_at timestamptz, uri text, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  SELECT f.* FROM skua.read_feed(ARRAY[bsky.actor_id(account)], max_rows, before, last_uri, viewer IS NOT NULL, bsky.actor_id(viewer), false) f
$$;
COMMENT ON FUNCTION bsky.timeline(text, int4, timestamptz, text, text) IS 'The posts and reposts of an account, newest first, as bsky.feed returns them. The account is a DID, a handle or a bsky.app URL. before and last_uri, the sort_at and uri of the last row of a page: only the rows after it; with before alone those whose sort_at is earlier. For a viewer, which is named like the account, without posts and reposts by accounts that the viewer does not see (bsky.is_hidden_from). At most max_rows rows.';

CREATE OR REPLACE FUNCTION bsky.feed_of(account text, max_rows int4 DEFAULT 50, before timestamptz DEFAULT NULL, viewer text DEFAULT NULL,
  last_uri text DEFAULT NULL)
RETURNS TABLE (name text, text text, reposted_by text, sort_at timestamptz, uri text, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  SELECT f.* FROM skua.read_feed(
    ARRAY(SELECT DISTINCT f.subject_actor FROM bsky.follows f WHERE f.actor_id = (SELECT bsky.actor_id(account))),
    max_rows, before, last_uri, viewer IS NOT NULL, bsky.actor_id(viewer), true) f
$$;
COMMENT ON FUNCTION bsky.feed_of(text, int4, timestamptz, text, text) IS 'The newest posts and reposts of the accounts that an account follows, each post once, newest first, as bsky.feed returns them. The account is a DID, a handle or a bsky.app URL. before and last_uri, the sort_at and uri of the last row of a page: only the rows after it; with before alone those whose sort_at is earlier. For a viewer, usually the account itself, without posts and reposts by accounts that the viewer does not see (bsky.is_hidden_from), and without replies whose parent, or the parent of that post, is by an account that the viewer blocks or that blocks the viewer. At most max_rows rows.';
