-- Questions about a record. The address may be a column of the query. PostgreSQL replaces calls of these functions by their
-- queries: a LIMIT ends the reading, and columns that the query does not select are not computed.

CREATE OR REPLACE FUNCTION bsky.post(uri text) RETURNS SETOF bsky.posts_view
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.*
  FROM bsky.resolve_uri(uri) k
  JOIN bsky.posts_view p ON p.actor_id = k.actor_id AND p.rkey = k.rkey
  WHERE k.collection_id = 1
$$;
COMMENT ON FUNCTION bsky.post(text) IS 'The post of an AT-URI or a bsky.app URL, as bsky.posts_view has it. No row if the post is not there.';

-- OR with a key that no record has makes PostgreSQL read the rows in the order of the table (a bitmap). It expects few rows of a
-- subject, and would read 200,000 in the order of the index, which takes five times as long.
CREATE OR REPLACE FUNCTION bsky.likes_of(address text)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce(a.handle, a.did), a.did, 'at://' || a.did || '/app.bsky.feed.like/' || bsky.rkey_text(p.actor_id, 2, p.rkey), p.sort_at,
         p.actor_id, p.rkey
  FROM bsky.resolve_uri(address) k CROSS JOIN LATERAL (
    SELECT DISTINCT ON (l.actor_id) l.actor_id, l.rkey, least(l.created_at, l.indexed_at) AS sort_at
    FROM bsky.likes l
    WHERE ((l.subject_actor = k.actor_id AND l.subject_rkey = k.rkey) OR (l.subject_actor = -1 AND l.subject_rkey = -1))
      AND l.subject_collection = k.collection_id
    ORDER BY l.actor_id, l.rkey) p
  JOIN bsky.actors a ON a.id = p.actor_id
  WHERE a.active IS NOT FALSE
$$;
COMMENT ON FUNCTION bsky.likes_of(text) IS 'The accounts that like a post, feed or labeler, each once, with the like (uri) and its time (sort_at). The record is an AT-URI or a bsky.app URL.';

CREATE OR REPLACE FUNCTION bsky.reposts_of(address text)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce(a.handle, a.did), a.did, 'at://' || a.did || '/app.bsky.feed.repost/' || bsky.rkey_text(p.actor_id, 3, p.rkey), p.sort_at,
         p.actor_id, p.rkey
  FROM bsky.resolve_uri(address) k CROSS JOIN LATERAL (
    SELECT DISTINCT ON (l.actor_id) l.actor_id, l.rkey, least(l.created_at, l.indexed_at) AS sort_at
    FROM bsky.reposts l
    WHERE ((l.subject_actor = k.actor_id AND l.subject_rkey = k.rkey) OR (l.subject_actor = -1 AND l.subject_rkey = -1))
      AND l.subject_collection = k.collection_id
    ORDER BY l.actor_id, l.rkey) p
  JOIN bsky.actors a ON a.id = p.actor_id
  WHERE a.active IS NOT FALSE
$$;
COMMENT ON FUNCTION bsky.reposts_of(text) IS 'The accounts that reposted a post, each once, with the repost (uri) and its time (sort_at). The post is an AT-URI or a bsky.app URL.';

-- The newest accounts of a subject with very many. An optional index has them in this order. In its part of the query, `+ 0`
-- leaves the planner no other index, and with WITH TIES it cannot choose a sort of all rows by the whole key. Without the index all
-- are sorted, before duplicates and inactive accounts are left out.
CREATE OR REPLACE FUNCTION bsky.likes_of(address text, max_rows int4, before timestamptz DEFAULT NULL, last_uri text DEFAULT NULL)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  SELECT coalesce(a.handle, a.did), a.did, 'at://' || a.did || '/app.bsky.feed.like/' || bsky.rkey_text(n.actor_id, 2, n.rkey), n.sort_at,
         n.actor_id, n.rkey
  FROM bsky.resolve_uri(address) k CROSS JOIN skua.page_end(before, last_uri) e CROSS JOIN LATERAL (
    (SELECT l.actor_id, l.rkey, least(l.created_at, l.indexed_at) AS sort_at FROM bsky.likes l
     WHERE l.subject_rkey = k.rkey AND l.subject_actor + 0 = k.actor_id AND l.subject_collection = k.collection_id
       AND least(l.created_at, l.indexed_at) <= e.sort_at
       AND (least(l.created_at, l.indexed_at), l.actor_id, l.rkey) < (e.sort_at, e.actor_id, e.rkey)
       AND (SELECT skua.has_index('likes_newest'))
       AND (SELECT true FROM bsky.likes d WHERE d.subject_actor = l.subject_actor AND d.subject_rkey = l.subject_rkey
            AND d.actor_id = l.actor_id AND d.subject_collection = l.subject_collection AND d.rkey < l.rkey
            LIMIT 1) IS NULL
       AND (SELECT i.active FROM bsky.actors i WHERE i.id = l.actor_id) IS NOT FALSE
     ORDER BY least(l.created_at, l.indexed_at) DESC FETCH FIRST (coalesce(max_rows, 2147483647)) ROWS WITH TIES)
    UNION ALL
    (SELECT s.actor_id, s.rkey, s.sort_at FROM (
       SELECT l.actor_id, l.rkey, least(l.created_at, l.indexed_at) AS sort_at FROM bsky.likes l
       WHERE ((l.subject_actor = k.actor_id AND l.subject_rkey = k.rkey) OR (l.subject_actor = -1 AND l.subject_rkey = -1))
         AND l.subject_collection = k.collection_id
         AND (least(l.created_at, l.indexed_at), l.actor_id, l.rkey) < (e.sort_at, e.actor_id, e.rkey)
         AND (SELECT NOT skua.has_index('likes_newest'))
       ORDER BY least(l.created_at, l.indexed_at) DESC, l.actor_id DESC, l.rkey DESC OFFSET 0) s
     WHERE (SELECT true FROM bsky.likes d WHERE d.subject_actor = k.actor_id AND d.subject_rkey = k.rkey
            AND d.actor_id = s.actor_id AND d.subject_collection = k.collection_id AND d.rkey < s.rkey
            LIMIT 1) IS NULL
       AND (SELECT i.active FROM bsky.actors i WHERE i.id = s.actor_id) IS NOT FALSE
     LIMIT max_rows)) n
  JOIN bsky.actors a ON a.id = n.actor_id
  ORDER BY n.sort_at DESC, n.actor_id DESC, n.rkey DESC LIMIT max_rows
$$;
COMMENT ON FUNCTION bsky.likes_of(text, int4, timestamptz, text) IS 'The newest likes of a record, newest first, as bsky.likes_of(text) has them. before and last_uri, the sort_at and uri of the last row of a page: only the rows after it; with before alone those whose sort_at is earlier. At most max_rows rows. `skua index add newest-likes` makes it fast for a record with very many likes.';

CREATE OR REPLACE FUNCTION bsky.reposts_of(address text, max_rows int4, before timestamptz DEFAULT NULL, last_uri text DEFAULT NULL)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  SELECT coalesce(a.handle, a.did), a.did, 'at://' || a.did || '/app.bsky.feed.repost/' || bsky.rkey_text(n.actor_id, 3, n.rkey), n.sort_at,
         n.actor_id, n.rkey
  FROM bsky.resolve_uri(address) k CROSS JOIN skua.page_end(before, last_uri) e CROSS JOIN LATERAL (
    (SELECT l.actor_id, l.rkey, least(l.created_at, l.indexed_at) AS sort_at FROM bsky.reposts l
     WHERE l.subject_rkey = k.rkey AND l.subject_actor + 0 = k.actor_id AND l.subject_collection = k.collection_id
       AND least(l.created_at, l.indexed_at) <= e.sort_at
       AND (least(l.created_at, l.indexed_at), l.actor_id, l.rkey) < (e.sort_at, e.actor_id, e.rkey)
       AND (SELECT skua.has_index('reposts_newest'))
       AND (SELECT true FROM bsky.reposts d WHERE d.subject_actor = l.subject_actor AND d.subject_rkey = l.subject_rkey
            AND d.actor_id = l.actor_id AND d.subject_collection = l.subject_collection AND d.rkey < l.rkey
            LIMIT 1) IS NULL
       AND (SELECT i.active FROM bsky.actors i WHERE i.id = l.actor_id) IS NOT FALSE
     ORDER BY least(l.created_at, l.indexed_at) DESC FETCH FIRST (coalesce(max_rows, 2147483647)) ROWS WITH TIES)
    UNION ALL
    (SELECT s.actor_id, s.rkey, s.sort_at FROM (
       SELECT l.actor_id, l.rkey, least(l.created_at, l.indexed_at) AS sort_at FROM bsky.reposts l
       WHERE ((l.subject_actor = k.actor_id AND l.subject_rkey = k.rkey) OR (l.subject_actor = -1 AND l.subject_rkey = -1))
         AND l.subject_collection = k.collection_id
         AND (least(l.created_at, l.indexed_at), l.actor_id, l.rkey) < (e.sort_at, e.actor_id, e.rkey)
         AND (SELECT NOT skua.has_index('reposts_newest'))
       ORDER BY least(l.created_at, l.indexed_at) DESC, l.actor_id DESC, l.rkey DESC OFFSET 0) s
     WHERE (SELECT true FROM bsky.reposts d WHERE d.subject_actor = k.actor_id AND d.subject_rkey = k.rkey
            AND d.actor_id = s.actor_id AND d.subject_collection = k.collection_id AND d.rkey < s.rkey
            LIMIT 1) IS NULL
       AND (SELECT i.active FROM bsky.actors i WHERE i.id = s.actor_id) IS NOT FALSE
     LIMIT max_rows)) n
  JOIN bsky.actors a ON a.id = n.actor_id
  ORDER BY n.sort_at DESC, n.actor_id DESC, n.rkey DESC LIMIT max_rows
$$;
COMMENT ON FUNCTION bsky.reposts_of(text, int4, timestamptz, text) IS 'The newest reposts of a post, newest first, as bsky.reposts_of(text) has them. before and last_uri, the sort_at and uri of the last row of a page: only the rows after it; with before alone those whose sort_at is earlier. At most max_rows rows. `skua index add newest-reposts` makes it fast for a post with very many reposts.';

CREATE OR REPLACE FUNCTION bsky.members_of(list text, max_rows int4 DEFAULT NULL, before timestamptz DEFAULT NULL,
  last_uri text DEFAULT NULL)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  SELECT coalesce(a.handle, a.did), a.did, bsky.uri(n.list_actor, 10, n.rkey), n.sort_at, n.subject_actor, n.rkey
  FROM bsky.resolve_uri(list) k CROSS JOIN skua.page_end(before, last_uri) e CROSS JOIN LATERAL (
    (SELECT l.list_actor, l.subject_actor, l.rkey, least(l.created_at, l.indexed_at) AS sort_at FROM bsky.list_items l
     WHERE l.list_rkey = k.rkey AND l.list_actor + 0 = k.actor_id AND l.actor_id + 0 = k.actor_id
       AND least(l.created_at, l.indexed_at) <= e.sort_at AND (least(l.created_at, l.indexed_at), l.rkey) < (e.sort_at, e.rkey)
       AND (SELECT skua.has_index('list_items_newest'))
       AND (SELECT true FROM bsky.list_items d WHERE d.list_actor = l.list_actor AND d.list_rkey = l.list_rkey
            AND d.subject_actor = l.subject_actor AND d.actor_id = l.list_actor AND d.rkey < l.rkey
            LIMIT 1) IS NULL
       AND (SELECT i.active FROM bsky.actors i WHERE i.id = l.subject_actor) IS NOT FALSE
     ORDER BY least(l.created_at, l.indexed_at) DESC FETCH FIRST (coalesce(max_rows, 2147483647)) ROWS WITH TIES)
    UNION ALL
    (SELECT s.list_actor, s.subject_actor, s.rkey, s.sort_at FROM (
       SELECT l.list_actor, l.subject_actor, l.rkey, least(l.created_at, l.indexed_at) AS sort_at FROM bsky.list_items l
       WHERE l.list_rkey = k.rkey AND l.list_actor = k.actor_id AND l.actor_id = k.actor_id
         AND (least(l.created_at, l.indexed_at), l.rkey) < (e.sort_at, e.rkey)
         AND (SELECT NOT skua.has_index('list_items_newest'))
       ORDER BY least(l.created_at, l.indexed_at) DESC, l.rkey DESC OFFSET 0) s
     WHERE (SELECT true FROM bsky.list_items d WHERE d.list_actor = k.actor_id AND d.list_rkey = k.rkey
            AND d.subject_actor = s.subject_actor AND d.actor_id = k.actor_id AND d.rkey < s.rkey
            LIMIT 1) IS NULL
       AND (SELECT i.active FROM bsky.actors i WHERE i.id = s.subject_actor) IS NOT FALSE
     LIMIT max_rows)) n
  JOIN bsky.actors a ON a.id = n.subject_actor
  WHERE k.collection_id = 9 AND (SELECT o.active FROM bsky.actors o WHERE o.id = k.actor_id) IS NOT FALSE
  ORDER BY n.sort_at DESC, n.rkey DESC LIMIT max_rows
$$;
COMMENT ON FUNCTION bsky.members_of(text, int4, timestamptz, text) IS 'The active accounts on a list, each once, newest first, with the record (uri) and its time (sort_at). Only records by the author of the list count. before and last_uri, the sort_at and uri of the last row of a page: only the rows after it; with before alone those whose sort_at is earlier. At most max_rows rows; null: all. The list is an AT-URI or a bsky.app URL. `skua index add newest-members` makes it fast for a list with very many accounts.';

-- The rules are subqueries for each row, which look up the primary key: as joins they could read the whole table. The posts are
-- sorted before, so that a LIMIT ends the look-ups. The rules do not depend on bsky.is_current: while the projection is behind,
-- its rows are still the best answer.
CREATE OR REPLACE FUNCTION bsky.replies_of(address text, all_replies boolean DEFAULT false, before timestamptz DEFAULT NULL,
  last_uri text DEFAULT NULL)
RETURNS SETOF bsky.posts_view
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.* FROM (
    SELECT r.* FROM bsky.posts_view r
    WHERE (r.parent_actor, r.parent_rkey) = (SELECT k.actor_id, k.rkey FROM bsky.resolve_uri(address) k WHERE k.collection_id = 1)
      AND (r.sort_at, r.actor_id, r.rkey) < (SELECT e.sort_at, e.actor_id, e.rkey FROM skua.page_end(before, last_uri) e)
    ORDER BY r.sort_at DESC, r.actor_id DESC, r.rkey DESC OFFSET 0) p
  WHERE all_replies OR (SELECT r.violates_threadgate OR r.has_invalid_root FROM bsky.post_rules r
                        WHERE r.actor_id = p.actor_id AND r.rkey = p.rkey) IS NOT TRUE
$$;
COMMENT ON FUNCTION bsky.replies_of(text, boolean, timestamptz, text) IS 'The direct replies to a post, as bsky.posts_view has them. Without those that violate the threadgate or have an invalid root (bsky.post_rules), unless all_replies is true. Hidden replies are there: is_hidden. before and last_uri, the sort_at and uri of the last row of a page: only the rows after it, in the order sort_at DESC, actor_id DESC, rkey DESC; with before alone those whose sort_at is earlier. The post is an AT-URI or a bsky.app URL. bsky.thread also returns the replies to replies.';

CREATE OR REPLACE FUNCTION bsky.quotes_of(address text, all_quotes boolean DEFAULT false, viewer text DEFAULT NULL,
  before timestamptz DEFAULT NULL, last_uri text DEFAULT NULL)
RETURNS SETOF bsky.posts_view
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.* FROM (
    SELECT q.* FROM bsky.posts_view q
    WHERE (q.quote_actor, q.quote_collection, q.quote_rkey) = (SELECT k.actor_id, k.collection_id, k.rkey FROM bsky.resolve_uri(address) k)
      AND (q.sort_at, q.actor_id, q.rkey) < (SELECT e.sort_at, e.actor_id, e.rkey FROM skua.page_end(before, last_uri) e)
    ORDER BY q.sort_at DESC, q.actor_id DESC, q.rkey DESC OFFSET 0) p
  WHERE (all_quotes OR (SELECT r.violates_embedding_rules FROM bsky.post_rules r
                        WHERE r.actor_id = p.actor_id AND r.rkey = p.rkey) IS NOT TRUE)
    AND (viewer IS NULL OR NOT (bsky.is_hidden_from((SELECT bsky.actor_id(viewer)), p.actor_id, 1, p.rkey)
                                OR bsky.is_blocked(p.actor_id, p.quote_actor)))
$$;
COMMENT ON FUNCTION bsky.quotes_of(text, boolean, text, timestamptz, text) IS 'The posts that quote a record, as bsky.posts_view has them; quote_state states whether a quote is detached or disabled. Without those that violate the postgate of the quoted post (bsky.post_rules), unless all_quotes is true. For a viewer, without posts that the viewer does not see (bsky.is_hidden_from), and without quotes by accounts that the quoted account blocks or that block it. before and last_uri, the sort_at and uri of the last row of a page: only the rows after it, in the order sort_at DESC, actor_id DESC, rkey DESC; with before alone those whose sort_at is earlier. The record is an AT-URI or a bsky.app URL, and the viewer a DID, a handle or a bsky.app URL.';

-- The posts of a thread from top to bottom. The function visits one post after the other and ends with the page. `open` are the
-- posts that are still to visit, in reverse order: it has the later siblings of each post above the current one. With the last post
-- of the former page it is filled by the path from this post to the first one, without the posts before. If the path is not known,
-- because a post of it was deleted or it is longer than 10,000 posts, the posts before are visited again.
--
-- A post has one parent. Therefore a cycle below a post can only lead back to the first post, which stops it. A cycle above a post can
-- be of other posts; the path then does not reach the first post.
CREATE OR REPLACE FUNCTION skua.thread_page(first_actor int8, first_rkey int8, has_replies boolean, max_depth int4, max_rows int4,
  all_replies boolean, has_viewer boolean, viewer_id int8, places_above int8, passed int8, last_actor int8, last_rkey int8)
RETURNS TABLE (place int8, depth int4, actor_id int8, rkey int8, sort_at timestamptz, text text, did text, handle text)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 100 AS $$
#variable_conflict use_column
DECLARE
  most_depth CONSTANT int4 := CASE WHEN has_replies THEN max_depth ELSE 0 END;
  open_actor int8[] := ARRAY[first_actor];
  open_rkey int8[] := ARRAY[first_rkey];
  open_depth int4[] := ARRAY[0];
  top int4 := 1;
  path record;
  item record;
  post record;
  seen int8 := passed;
BEGIN
  IF max_rows <= 0 THEN
    RETURN;
  END IF;
  IF has_viewer AND NOT EXISTS (
    SELECT FROM bsky.posts c JOIN bsky.actors a ON a.id = c.actor_id
    WHERE c.actor_id = first_actor AND c.rkey = first_rkey AND c.cid IS NOT NULL AND a.active IS NOT FALSE) THEN
    RETURN;
  END IF;
  WITH RECURSIVE up AS (
    SELECT c.actor_id, c.rkey, c.parent_actor, c.parent_rkey, least(c.created_at, c.indexed_at) AS sort_at, 0 AS height
    FROM bsky.posts c WHERE c.actor_id = last_actor AND c.rkey = last_rkey AND c.cid IS NOT NULL
    UNION ALL
    SELECT c.actor_id, c.rkey, c.parent_actor, c.parent_rkey, least(c.created_at, c.indexed_at), u.height + 1
    FROM up u JOIN LATERAL (SELECT p.* FROM bsky.posts p WHERE p.actor_id = u.parent_actor AND p.rkey = u.parent_rkey OFFSET 0) c ON true
    WHERE (u.actor_id, u.rkey) <> (first_actor, first_rkey) AND u.height < least(most_depth, 10000)
  )
  SELECT array_agg(u.actor_id ORDER BY u.height DESC) AS actors, array_agg(u.rkey ORDER BY u.height DESC) AS rkeys,
         array_agg(u.sort_at ORDER BY u.height DESC) AS times, count(*)::int4 AS posts INTO path
  FROM up u HAVING bool_or((u.actor_id, u.rkey) = (first_actor, first_rkey));
  IF path.posts IS NOT NULL THEN
    top := 0;
    FOR level IN 1..path.posts LOOP
      -- The children after the next post of the path, or all of the last one.
      FOR item IN
        SELECT c.actor_id, c.rkey FROM bsky.posts c
        WHERE c.parent_actor = path.actors[level] AND c.parent_rkey = path.rkeys[level] AND c.cid IS NOT NULL AND level <= most_depth
          AND (level = path.posts OR (least(c.created_at, c.indexed_at), c.actor_id, c.rkey)
                                     > (path.times[level + 1], path.actors[level + 1], path.rkeys[level + 1]))
        ORDER BY least(c.created_at, c.indexed_at) DESC, c.actor_id DESC, c.rkey DESC
      LOOP
        top := top + 1;
        open_actor[top] := item.actor_id; open_rkey[top] := item.rkey; open_depth[top] := level;
      END LOOP;
    END LOOP;
  ELSE
    seen := 0;
  END IF;
  WHILE top > 0 LOOP
    actor_id := open_actor[top]; rkey := open_rkey[top]; depth := open_depth[top];
    top := top - 1;
    CONTINUE WHEN depth > 0 AND thread_page.actor_id = first_actor AND thread_page.rkey = first_rkey;
    SELECT least(c.created_at, c.indexed_at) AS sort_at, c.text, a.did, a.handle INTO post
    FROM bsky.posts c JOIN bsky.actors a ON a.id = c.actor_id
    WHERE c.actor_id = thread_page.actor_id AND c.rkey = thread_page.rkey AND c.cid IS NOT NULL AND a.active IS NOT FALSE
      AND (thread_page.depth = 0 OR (
        (all_replies OR (SELECT r.violates_threadgate OR r.has_invalid_root FROM bsky.post_rules r
                         WHERE r.actor_id = c.actor_id AND r.rkey = c.rkey) IS NOT TRUE)
        AND NOT (has_viewer AND (bsky.is_hidden_from(viewer_id, c.actor_id, 1, c.rkey) OR bsky.is_blocked(c.actor_id, c.parent_actor)))));
    IF post.did IS NOT NULL THEN
      seen := seen + 1;
      IF seen > passed THEN
        place := places_above + seen;
        sort_at := post.sort_at; text := post.text; did := post.did; handle := post.handle;
        RETURN NEXT;
        IF seen - passed >= max_rows THEN
          RETURN;
        END IF;
      END IF;
    ELSIF depth > 0 THEN
      CONTINUE;
    END IF;
    CONTINUE WHEN depth >= most_depth;
    FOR item IN
      SELECT c.actor_id, c.rkey FROM bsky.posts c
      WHERE c.parent_actor = thread_page.actor_id AND c.parent_rkey = thread_page.rkey AND c.cid IS NOT NULL
      ORDER BY least(c.created_at, c.indexed_at) DESC, c.actor_id DESC, c.rkey DESC
    LOOP
      top := top + 1;
      open_actor[top] := item.actor_id; open_rkey[top] := item.rkey; open_depth[top] := depth + 1;
    END LOOP;
  END LOOP;
END
$$;
COMMENT ON FUNCTION skua.thread_page(int8, int8, boolean, int4, int4, boolean, boolean, int8, int8, int8, int8, int8) IS 'A page of bsky.thread: the first post of the thread and the replies below it, from top to bottom, after `passed` of them. last_actor and last_rkey, the key of the last post of the former page, save the visit of those before. places_above is added to each place. If has_viewer is true, only those that a viewer (bsky.actors.id; null: a person who is not signed in) sees.';

-- `tree` is without pages. The LIMIT of `posts` ends the recursion, which reads one level after the other, so that a long branch does not
-- displace short ones. The replies to a post are sorted before those are left out that are not shown: a LIMIT then ends the
-- look-ups. A cycle above a post can be of other posts; `path` stops it.
CREATE OR REPLACE FUNCTION bsky.thread(address text, max_depth int4 DEFAULT 20, max_posts int4 DEFAULT 500,
  all_replies boolean DEFAULT false, viewer text DEFAULT NULL, max_above int4 DEFAULT 0, after_place int8 DEFAULT NULL,
  last_uri text DEFAULT NULL)
RETURNS TABLE (place int8, depth int4, name text, text text, uri text, sort_at timestamptz, actor_id int8, rkey int8, validity text)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100 AS $$
  WITH RECURSIVE first AS MATERIALIZED (
    SELECT k.actor_id, k.rkey, v.id AS viewer_id,
           all_replies OR (SELECT r.violates_threadgate FROM bsky.post_rules r
                           WHERE r.actor_id = k.actor_id AND r.rkey = k.rkey) IS NOT TRUE AS has_others
    FROM bsky.resolve_uri(address) k
    CROSS JOIN (SELECT bsky.actor_id(viewer) OFFSET 0) v(id)
    WHERE k.collection_id = 1 AND (viewer IS NULL OR NOT bsky.is_hidden_from(v.id, k.actor_id, 1, k.rkey))
  ),
  above AS (
    SELECT 0 AS depth, p.actor_id, p.rkey, p.parent_actor, p.parent_rkey, coalesce(p.root_actor, p.actor_id) AS thread_actor,
           coalesce(p.root_rkey, p.rkey) AS thread_rkey, NULL::timestamptz AS sort_at, NULL::text AS text, NULL::text AS did,
           NULL::text AS handle, ARRAY[p.actor_id || ' ' || p.rkey] AS path
    FROM first f JOIN bsky.posts p ON p.actor_id = f.actor_id AND p.rkey = f.rkey AND p.cid IS NOT NULL
    WHERE max_above > 0 AND f.has_others
    UNION ALL
    SELECT x.depth - 1, p.actor_id, p.rkey, p.parent_actor, p.parent_rkey, x.thread_actor, x.thread_rkey, p.sort_at, p.text,
           p.did, p.handle, x.path || (p.actor_id || ' ' || p.rkey)
    FROM above x
    JOIN LATERAL (
      SELECT c.actor_id, c.rkey, c.parent_actor, c.parent_rkey, c.text, least(c.created_at, c.indexed_at) AS sort_at, a.did, a.handle
      FROM bsky.posts c
      JOIN bsky.actors a ON a.id = c.actor_id
      WHERE c.actor_id = x.parent_actor AND c.rkey = x.parent_rkey AND c.cid IS NOT NULL AND a.active IS NOT FALSE
        AND (all_replies OR (coalesce(c.root_actor, c.actor_id), coalesce(c.root_rkey, c.rkey)) = (x.thread_actor, x.thread_rkey))
      OFFSET 0
    ) p ON true
    WHERE x.depth > -max_above
      AND NOT (p.actor_id || ' ' || p.rkey) = ANY (x.path)
      AND (viewer IS NULL OR NOT (bsky.is_hidden_from((SELECT f.viewer_id FROM first f), p.actor_id, 1, p.rkey)
                                  OR bsky.is_blocked(p.actor_id, x.actor_id)))
  ),
  tree AS (
    SELECT 0 AS depth, f.actor_id, f.rkey, p.sort_at, p.text, p.did, p.handle, '{}'::numeric[] AS path
    FROM first f
    -- The first post may be missing.
    LEFT JOIN LATERAL (
      SELECT least(c.created_at, c.indexed_at) AS sort_at, c.text, a.did, a.handle
      FROM bsky.posts c
      JOIN bsky.actors a ON a.id = c.actor_id
      WHERE c.actor_id = f.actor_id AND c.rkey = f.rkey AND c.cid IS NOT NULL AND a.active IS NOT FALSE
    ) p ON true
    WHERE after_place IS NULL AND (viewer IS NULL OR p.did IS NOT NULL)
    UNION ALL
    SELECT t.depth + 1, p.actor_id, p.rkey, p.sort_at, p.text, p.did, p.handle,
           t.path || ARRAY[extract(epoch FROM p.sort_at), p.actor_id, p.rkey]
    FROM tree t
    JOIN LATERAL (
      SELECT c.actor_id, c.rkey, c.sort_at, c.text, a.did, a.handle
      FROM (
        SELECT s.actor_id, s.rkey, s.text, least(s.created_at, s.indexed_at) AS sort_at FROM bsky.posts s
        WHERE s.parent_actor = t.actor_id AND s.parent_rkey = t.rkey AND s.cid IS NOT NULL
        ORDER BY least(s.created_at, s.indexed_at), s.actor_id, s.rkey OFFSET 0) c
      CROSS JOIN LATERAL (SELECT i.did, i.handle FROM bsky.actors i WHERE i.id = c.actor_id AND i.active IS NOT FALSE OFFSET 0) a
      WHERE (all_replies OR (SELECT r.violates_threadgate OR r.has_invalid_root FROM bsky.post_rules r
                             WHERE r.actor_id = c.actor_id AND r.rkey = c.rkey) IS NOT TRUE)
        AND (viewer IS NULL OR NOT (bsky.is_hidden_from((SELECT f.viewer_id FROM first f), c.actor_id, 1, c.rkey)
                                    OR bsky.is_blocked(c.actor_id, t.actor_id)))
      LIMIT max_posts
    ) p ON true
    WHERE t.depth < max_depth
      AND (SELECT f.has_others FROM first f)
      AND NOT EXISTS (SELECT FROM first f WHERE f.actor_id = p.actor_id AND f.rkey = p.rkey)
  ),
  posts AS (
    SELECT * FROM tree LIMIT max_posts
  ),
  heights AS MATERIALIZED (
    SELECT count(*) AS posts FROM above x WHERE x.depth < 0
  ),
  shown AS (
    SELECT x.depth + h.posts + 1 AS place, x.depth, x.actor_id, x.rkey, x.sort_at, x.text, x.did, x.handle
    FROM above x CROSS JOIN heights h WHERE x.depth < 0
    UNION ALL
    SELECT h.posts + row_number() OVER (ORDER BY p.path), p.depth, p.actor_id, p.rkey, p.sort_at, p.text, p.did, p.handle
    FROM posts p CROSS JOIN heights h WHERE p.did IS NOT NULL
    UNION ALL
    SELECT g.place, g.depth, g.actor_id, g.rkey, g.sort_at, g.text, g.did, g.handle
    FROM first f CROSS JOIN heights h
    LEFT JOIN LATERAL (SELECT * FROM bsky.resolve_uri(last_uri) OFFSET 0) l ON after_place > h.posts
    CROSS JOIN LATERAL skua.thread_page(f.actor_id, f.rkey, f.has_others, max_depth, max_posts, all_replies, viewer IS NOT NULL,
      f.viewer_id, h.posts, greatest(after_place - h.posts, 0), l.actor_id, l.rkey) g
    WHERE after_place IS NOT NULL
  )
  SELECT p.place, p.depth, coalesce(p.handle, p.did), p.text,
         'at://' || p.did || '/app.bsky.feed.post/' || bsky.rkey_text(p.actor_id, 1, p.rkey), p.sort_at, p.actor_id, p.rkey,
         coalesce((
           SELECT nullif(concat_ws(', ', CASE WHEN r.violates_threadgate THEN 'violates_threadgate' END,
                                   CASE WHEN r.has_invalid_root THEN 'has_invalid_root' END,
                                   CASE WHEN r.is_hidden THEN 'is_hidden' END,
                                   CASE WHEN r.violates_embedding_rules THEN 'violates_embedding_rules' END), '')
           FROM bsky.post_rules r WHERE r.actor_id = p.actor_id AND r.rkey = p.rkey),
           CASE WHEN (SELECT bsky.is_current('post_rules')) THEN 'valid' END)
  FROM shown p
  WHERE after_place IS NULL OR p.place > after_place
  ORDER BY p.place LIMIT CASE WHEN after_place IS NOT NULL THEN max_posts END
$$;
COMMENT ON FUNCTION bsky.thread(text, int4, int4, boolean, text, int4, int8, text) IS 'A post, the posts above it and the replies below it, as a tree: depth 0 is the post, depth 1 a reply to it, depth -1 its parent. place numbers the posts from top to bottom; replies to the same post are sorted by time. Replies that violate the threadgate or have an invalid root, and the posts below them, are left out unless all_replies is true; nothing is above or below a first post that violates the threadgate. validity is valid, or the columns of bsky.post_rules that are true, such as is_hidden; null if no rule is known to be broken and the projection post_rules is not current. At most max_depth levels and max_posts posts below, upper levels first, and at most max_above posts above. With after_place the answer is a page of the whole thread: the next max_posts posts from top to bottom after this place, which is 0 for the first page. last_uri, the uri of the last row, makes it fast in a long thread, and exact if posts before it appear or disappear. Replies to a post that is missing, deleted or of an inactive account are not below any other post, but the first post may be missing. For a viewer, posts that the viewer does not see (bsky.is_hidden_from) are left out, as are replies between accounts that block each other, the posts below them, and all posts if the first one is missing or not seen. The viewer is a DID, a handle or a bsky.app URL; an unknown account stands for a person who is not signed in. The post is an AT-URI or a bsky.app URL.';

-- A deleted reply ends the chain, or a later reply takes its place. In the reference AppView a deleted reply keeps its place while a
-- reply below it is there: it keeps the keys of deleted replies and of their parents. A stub does not have the key of its parent, so
-- that the place of the replies below it is not known. They are still in bsky.thread of the deleted reply.
CREATE OR REPLACE FUNCTION bsky.author_thread(address text, max_posts int4 DEFAULT 500)
RETURNS TABLE (place int8, text text, uri text, sort_at timestamptz, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 10 AS $$
  WITH RECURSIVE root AS MATERIALIZED (
    SELECT r.actor_id, r.rkey, a.did
    FROM bsky.resolve_uri(address) k
    JOIN LATERAL (SELECT coalesce(p.root_actor, p.actor_id) AS actor_id, coalesce(p.root_rkey, p.rkey) AS rkey FROM bsky.posts p
                  WHERE p.actor_id = k.actor_id AND p.rkey = k.rkey AND p.cid IS NOT NULL OFFSET 0) r ON true
    JOIN bsky.actors a ON a.id = r.actor_id AND a.active IS NOT FALSE
    WHERE k.collection_id = 1
  ),
  chain AS (
    SELECT 1::int8 AS place, p.actor_id, p.rkey, p.text, least(p.created_at, p.indexed_at) AS sort_at, ARRAY[p.rkey] AS path
    FROM root r JOIN bsky.posts p ON p.actor_id = r.actor_id AND p.rkey = r.rkey AND p.cid IS NOT NULL
    UNION ALL
    SELECT x.place + 1, p.actor_id, p.rkey, p.text, p.sort_at, x.path || p.rkey
    FROM chain x
    JOIN LATERAL (
      SELECT c.actor_id, c.rkey, c.text, least(c.created_at, c.indexed_at) AS sort_at
      FROM bsky.posts c
      WHERE c.parent_actor = x.actor_id AND c.parent_rkey = x.rkey AND c.actor_id = x.actor_id AND c.cid IS NOT NULL
        AND (c.root_actor, c.root_rkey) = (SELECT r.actor_id, r.rkey FROM root r)
      ORDER BY c.rkey LIMIT 1
    ) p ON true
    WHERE x.place < max_posts AND NOT p.rkey = ANY (x.path)
  )
  SELECT x.place, x.text, 'at://' || (SELECT r.did FROM root r) || '/app.bsky.feed.post/' || bsky.rkey_text(x.actor_id, 1, x.rkey),
         x.sort_at, x.actor_id, x.rkey
  FROM chain x ORDER BY x.place
$$;
COMMENT ON FUNCTION bsky.author_thread(text, int4) IS 'The posts with which the author of a thread continues it: the first post of the thread, the author''s oldest reply to it, the author''s oldest reply to that one, and so on. The address is an AT-URI or a bsky.app URL of any post of the thread. A deleted reply ends the thread, or a later reply takes its place. At most max_posts posts; the rows after a place are the next page.';

-- A URL of bsky.app can be the address of an account or a record, and the subject of a label itself.
CREATE OR REPLACE FUNCTION bsky.labels_of(subject text) RETURNS SETOF bsky.labels_view
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.*
  FROM (SELECT bsky.actor_id(subject), 0, 0::int8
        WHERE subject ~ '^(@|at://|https://bsky\.app/profile/)?[^/]+$'
        UNION ALL SELECT k.actor_id, k.collection_id, k.rkey FROM bsky.resolve_uri(subject) k
        UNION ALL SELECT 0, 0, bsky.rkey_number(subject)) AS k(actor_id, collection_id, rkey)
  CROSS JOIN LATERAL (
    SELECT l.* FROM bsky.labels_view l
    WHERE l.subject_actor = k.actor_id AND l.subject_collection = k.collection_id AND l.subject_rkey = k.rkey OFFSET 0) p
$$;
COMMENT ON FUNCTION bsky.labels_of(text) IS 'The labels in force of an account, a record or another resource, as bsky.labels_view has them. The subject is a DID, a handle, an AT-URI, a bsky.app URL, or any other URI, exactly as the labeler wrote it.';
