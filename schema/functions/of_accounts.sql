-- Questions about an account. PostgreSQL replaces calls of these functions by their queries: a LIMIT ends the reading, and
-- columns that the query does not select are not computed.

-- The two forms are as those of bsky.likes_of: OR makes PostgreSQL read the rows in the order of the table.
CREATE OR REPLACE FUNCTION bsky.followers_of(account text)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce(a.handle, a.did), a.did, 'at://' || a.did || '/app.bsky.graph.follow/' || bsky.rkey_text(p.actor_id, 7, p.rkey), p.sort_at,
         p.actor_id, p.rkey
  FROM (SELECT bsky.actor_id(account) OFFSET 0) k(id) CROSS JOIN LATERAL (
    SELECT DISTINCT ON (f.actor_id) f.actor_id, f.rkey, least(f.created_at, f.indexed_at) AS sort_at
    FROM bsky.follows f
    WHERE f.subject_actor = k.id OR (f.subject_actor = -1 AND f.actor_id = -1)
    ORDER BY f.actor_id, f.rkey) p
  JOIN bsky.actors a ON a.id = p.actor_id
  WHERE a.active IS NOT FALSE AND (SELECT o.active FROM bsky.actors o WHERE o.id = k.id) IS NOT FALSE
$$;
COMMENT ON FUNCTION bsky.followers_of(text) IS 'The active accounts that follow an account, each once, with the follow (uri) and its time (sort_at). The account is a DID, a handle or a bsky.app URL.';

-- Both indexes of the second form begin with the subject; only the optional one has the order.
CREATE OR REPLACE FUNCTION bsky.followers_of(account text, max_rows int4, before timestamptz DEFAULT NULL, last_uri text DEFAULT NULL)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  SELECT coalesce(a.handle, a.did), a.did, 'at://' || a.did || '/app.bsky.graph.follow/' || bsky.rkey_text(n.actor_id, 7, n.rkey), n.sort_at,
         n.actor_id, n.rkey
  FROM (SELECT bsky.actor_id(account) OFFSET 0) k(id) CROSS JOIN skua.page_end(before, last_uri) e CROSS JOIN LATERAL (
    (SELECT f.actor_id, f.rkey, least(f.created_at, f.indexed_at) AS sort_at FROM bsky.follows f
     WHERE f.subject_actor = k.id AND least(f.created_at, f.indexed_at) <= e.sort_at
       AND (least(f.created_at, f.indexed_at), f.actor_id, f.rkey) < (e.sort_at, e.actor_id, e.rkey)
       AND (SELECT skua.has_index('follows_newest'))
       AND (SELECT true FROM bsky.follows d WHERE d.subject_actor = f.subject_actor AND d.actor_id = f.actor_id AND d.rkey < f.rkey
            LIMIT 1) IS NULL
       AND (SELECT i.active FROM bsky.actors i WHERE i.id = f.actor_id) IS NOT FALSE
     ORDER BY least(f.created_at, f.indexed_at) DESC FETCH FIRST (coalesce(max_rows, 2147483647)) ROWS WITH TIES)
    UNION ALL
    (SELECT s.actor_id, s.rkey, s.sort_at FROM (
       SELECT f.actor_id, f.rkey, least(f.created_at, f.indexed_at) AS sort_at FROM bsky.follows f
       WHERE (f.subject_actor = k.id OR (f.subject_actor = -1 AND f.actor_id = -1))
         AND (least(f.created_at, f.indexed_at), f.actor_id, f.rkey) < (e.sort_at, e.actor_id, e.rkey)
         AND (SELECT NOT skua.has_index('follows_newest'))
       ORDER BY least(f.created_at, f.indexed_at) DESC, f.actor_id DESC, f.rkey DESC OFFSET 0) s
     WHERE (SELECT true FROM bsky.follows d WHERE d.subject_actor = k.id AND d.actor_id = s.actor_id AND d.rkey < s.rkey
            LIMIT 1) IS NULL
       AND (SELECT i.active FROM bsky.actors i WHERE i.id = s.actor_id) IS NOT FALSE
     LIMIT max_rows)) n
  JOIN bsky.actors a ON a.id = n.actor_id
  WHERE (SELECT o.active FROM bsky.actors o WHERE o.id = k.id) IS NOT FALSE
  ORDER BY n.sort_at DESC, n.actor_id DESC, n.rkey DESC LIMIT max_rows
$$;
COMMENT ON FUNCTION bsky.followers_of(text, int4, timestamptz, text) IS 'The newest followers of an account, newest first, as bsky.followers_of(text) has them. before and last_uri, the sort_at and uri of the last row of a page: only the rows after it; with before alone those whose sort_at is earlier. At most max_rows rows. `skua index add newest-followers` makes it fast for an account with very many followers.';

CREATE OR REPLACE FUNCTION bsky.follows_of(account text)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.subject_name, p.subject_did, p.uri, p.sort_at, p.subject_actor, p.rkey FROM bsky.follow_pairs p
  WHERE p.actor_id = (SELECT bsky.actor_id(account))
$$;
COMMENT ON FUNCTION bsky.follows_of(text) IS 'The active accounts that an account follows, each once, with the follow (uri, rkey) and its time (sort_at). actor_id is the followed account. The account is a DID, a handle or a bsky.app URL.';

-- All follows are records of the account, and their primary key begins with it. With `+ 0` PostgreSQL looks for other follows of the
-- same account in the index on the followed account: the primary key would read all follows again for each row.
CREATE OR REPLACE FUNCTION bsky.follows_of(account text, max_rows int4, before timestamptz DEFAULT NULL, last_uri text DEFAULT NULL)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  SELECT coalesce(a.handle, a.did), a.did, 'at://' || o.did || '/app.bsky.graph.follow/' || bsky.rkey_text(o.id, 7, n.rkey), n.sort_at,
         n.subject_actor, n.rkey
  FROM (SELECT bsky.actor_id(account) OFFSET 0) k(id) JOIN bsky.actors o ON o.id = k.id CROSS JOIN skua.page_end(before, last_uri) e
  CROSS JOIN LATERAL (
    SELECT s.subject_actor, s.rkey, s.sort_at FROM (
      SELECT f.subject_actor, f.rkey, least(f.created_at, f.indexed_at) AS sort_at FROM bsky.follows f
      WHERE f.actor_id = k.id AND (least(f.created_at, f.indexed_at), f.actor_id, f.rkey) < (e.sort_at, e.actor_id, e.rkey)
      ORDER BY least(f.created_at, f.indexed_at) DESC, f.rkey DESC OFFSET 0) s
    WHERE (SELECT true FROM bsky.follows d WHERE d.subject_actor = s.subject_actor AND d.actor_id = k.id AND d.rkey + 0 < s.rkey
           LIMIT 1) IS NULL
      AND (SELECT i.active FROM bsky.actors i WHERE i.id = s.subject_actor) IS NOT FALSE
    LIMIT max_rows) n
  JOIN bsky.actors a ON a.id = n.subject_actor
  WHERE o.active IS NOT FALSE
  ORDER BY n.sort_at DESC, n.rkey DESC LIMIT max_rows
$$;
COMMENT ON FUNCTION bsky.follows_of(text, int4, timestamptz, text) IS 'The newest follows of an account, newest first, as bsky.follows_of(text) has them. before and last_uri, the sort_at and uri of the last row of a page: only the rows after it; with before alone those whose sort_at is earlier. At most max_rows rows.';

CREATE OR REPLACE FUNCTION bsky.mutuals_of(account text)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT p.name, p.did, p.uri, p.sort_at, p.actor_id, p.rkey FROM bsky.follow_pairs p
  WHERE p.subject_actor = (SELECT bsky.actor_id(account))
    -- With IS TRUE PostgreSQL uses a hash table. A join could compare each pair.
    AND (p.actor_id IN (SELECT f.subject_actor FROM bsky.follows f WHERE f.actor_id = (SELECT bsky.actor_id(account)))) IS TRUE
$$;
COMMENT ON FUNCTION bsky.mutuals_of(text) IS 'The active accounts that follow an account and that it follows, each once, with their follow (uri) and its time (sort_at). The account is a DID, a handle or a bsky.app URL.';

-- An account can have very many followers, but follows few accounts: each of them is looked up, as above. A query database asks each node
-- once for all of them.
CREATE OR REPLACE FUNCTION bsky.mutuals_of(account text, max_rows int4, before timestamptz DEFAULT NULL, last_uri text DEFAULT NULL)
RETURNS TABLE (name text, did text, uri text, sort_at timestamptz, actor_id int8, rkey int8)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  SELECT coalesce(a.handle, a.did), a.did, 'at://' || a.did || '/app.bsky.graph.follow/' || bsky.rkey_text(n.actor_id, 7, n.rkey), n.sort_at,
         n.actor_id, n.rkey
  FROM (SELECT bsky.actor_id(account) OFFSET 0) k(id) CROSS JOIN skua.page_end(before, last_uri) e CROSS JOIN LATERAL (
    SELECT s.actor_id, s.rkey, s.sort_at FROM (
      SELECT p.actor_id, p.rkey, p.sort_at
      FROM (SELECT ARRAY(SELECT f.subject_actor FROM bsky.follows f WHERE f.actor_id = k.id) OFFSET 0) m(accounts) CROSS JOIN LATERAL (
        SELECT f.* FROM (SELECT DISTINCT i.id FROM unnest(m.accounts) i(id)) i CROSS JOIN LATERAL (
          SELECT f.actor_id, f.rkey, least(f.created_at, f.indexed_at) AS sort_at FROM bsky.follows f
          WHERE f.subject_actor = k.id AND f.actor_id = i.id ORDER BY f.rkey + 0 LIMIT 1) f
        WHERE NOT skua.is_query_database()
        UNION ALL (
        SELECT DISTINCT ON (f.actor_id) f.actor_id, f.rkey, least(f.created_at, f.indexed_at) AS sort_at FROM bsky.follows f
        WHERE f.subject_actor = k.id AND f.actor_id = ANY (m.accounts) AND skua.is_query_database() ORDER BY f.actor_id, f.rkey)) p
      WHERE (p.sort_at, p.actor_id, p.rkey) < (e.sort_at, e.actor_id, e.rkey)
      ORDER BY p.sort_at DESC, p.actor_id DESC, p.rkey DESC OFFSET 0) s
    WHERE (SELECT i.active FROM bsky.actors i WHERE i.id = s.actor_id) IS NOT FALSE
    LIMIT max_rows) n
  JOIN bsky.actors a ON a.id = n.actor_id
  WHERE (SELECT o.active FROM bsky.actors o WHERE o.id = k.id) IS NOT FALSE
  ORDER BY n.sort_at DESC, n.actor_id DESC, n.rkey DESC LIMIT max_rows
$$;
COMMENT ON FUNCTION bsky.mutuals_of(text, int4, timestamptz, text) IS 'The accounts of bsky.mutuals_of(text) with the newest follows, newest first. before and last_uri, the sort_at and uri of the last row of a page: only the rows after it; with before alone those whose sort_at is earlier. At most max_rows rows.';

-- The end of a page is in subqueries, which PostgreSQL computes first: then the index has the order, and a LIMIT ends the reading.
CREATE OR REPLACE FUNCTION bsky.notifications_of(account text, viewer text DEFAULT NULL, before timestamptz DEFAULT NULL,
  last_uri text DEFAULT NULL, last_reason text DEFAULT NULL)
RETURNS SETOF bsky.notifications_view
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT n.* FROM bsky.notifications_view n
  WHERE n.recipient = (SELECT bsky.actor_id(account))
    AND n.sort_at <= (SELECT e.sort_at FROM skua.page_end(before, last_uri) e)
    AND (n.sort_at, n.actor_id, n.rkey, n.collection_id, n.reason)
      < (SELECT e.sort_at, e.actor_id, e.rkey, e.collection_id, coalesce(last_reason, '') FROM skua.page_end(before, last_uri) e)
    AND (viewer IS NULL OR NOT (
      bsky.is_hidden_from((SELECT bsky.actor_id(viewer)), n.actor_id, n.collection_id, n.rkey)
      OR (n.reason = 'reply' AND bsky.hides_reply((SELECT bsky.actor_id(viewer)), n.actor_id, n.rkey))))
  ORDER BY n.sort_at DESC, n.actor_id DESC, n.rkey DESC, n.collection_id DESC, n.reason DESC
$$;
COMMENT ON FUNCTION bsky.notifications_of(text, text, timestamptz, text, text) IS 'The notifications of an account, newest first, as bsky.notifications_view has them. Empty until `skua consumers add notifications` has built them. For a viewer, usually the account itself, without records that the viewer does not see (bsky.is_hidden_from) and replies that the viewer hides in a thread of the viewer. before, last_uri and last_reason, the sort_at, uri and reason of the last row of a page: only the rows after it; with before alone those whose sort_at is earlier. The reason is needed because a like of a post that its author reposted notifies the author twice. Accounts are DIDs, handles or bsky.app URLs.';
