-- Posts by their words, and records by the records and accounts that they refer to.

-- `skua index add search` creates the index. The configuration 'simple' suits all languages, because it does not reduce words.
-- The posts are sorted before those of inactive accounts are left out, so that few accounts are looked up.
CREATE OR REPLACE FUNCTION bsky.search(words text, max_rows int4 DEFAULT 50, before timestamptz DEFAULT NULL, last_uri text DEFAULT NULL)
RETURNS SETOF bsky.posts_view
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  SELECT p.* FROM skua.page_end(before, last_uri) e CROSS JOIN LATERAL (
    -- A part has its own LIMIT, so that its scan can end early.
    (SELECT f.* FROM (
       SELECT t.actor_id, t.rkey, least(t.created_at, t.indexed_at) AS sort_at FROM bsky.posts t
       WHERE to_tsvector('simple', t.text) @@ websearch_to_tsquery('simple', words) AND t.cid IS NOT NULL
         AND (SELECT skua.has_index('posts_search')) AND least(t.created_at, t.indexed_at) <= e.sort_at
         AND (least(t.created_at, t.indexed_at), t.actor_id, t.rkey) < (e.sort_at, e.actor_id, e.rkey)
       ORDER BY least(t.created_at, t.indexed_at) DESC, t.actor_id DESC, t.rkey DESC OFFSET 0
     ) f
     WHERE (SELECT a.active FROM bsky.actors a WHERE a.id = f.actor_id) IS NOT FALSE
     LIMIT max_rows)
    UNION ALL
    (SELECT f.* FROM (
       SELECT t.actor_id, t.rkey, t.sort_at
       FROM (SELECT n.actor_id, n.rkey, n.text, least(n.created_at, n.indexed_at) AS sort_at FROM bsky.posts n
             WHERE n.cid IS NOT NULL AND (SELECT NOT skua.has_index('posts_search')) AND least(n.created_at, n.indexed_at) <= e.sort_at
               AND (least(n.created_at, n.indexed_at), n.actor_id, n.rkey) < (e.sort_at, e.actor_id, e.rkey)
             ORDER BY least(n.created_at, n.indexed_at) DESC, n.actor_id DESC, n.rkey DESC LIMIT 5000) t
       WHERE to_tsvector('simple', t.text) @@ websearch_to_tsquery('simple', words)
       ORDER BY t.sort_at DESC, t.actor_id DESC, t.rkey DESC OFFSET 0
     ) f
     WHERE (SELECT a.active FROM bsky.actors a WHERE a.id = f.actor_id) IS NOT FALSE
     LIMIT max_rows)
  ) k
  -- With OFFSET each post is looked up by its key.
  CROSS JOIN LATERAL (SELECT v.* FROM bsky.posts_view v WHERE v.actor_id = k.actor_id AND v.rkey = k.rkey OFFSET 0) p
  ORDER BY k.sort_at DESC, k.actor_id DESC, k.rkey DESC
$$;
COMMENT ON FUNCTION bsky.search(text, int4, timestamptz, text) IS 'Posts whose text contains words, newest first, as bsky.posts_view has them. The words are as websearch_to_tsquery reads them: all of them, "a phrase", or, -without. before and last_uri, the sort_at and uri of the last row of a page: only the rows after it; with before alone those whose sort_at is earlier. Without the index of `skua index add search` it searches the newest 5,000 of these posts only. At most max_rows rows.';

CREATE OR REPLACE FUNCTION bsky.word_beginnings(words text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT string_agg(quote_literal(w.lexeme) || ':*', ' & ')::tsquery FROM unnest(to_tsvector('simple', words)) AS w
$$;
COMMENT ON FUNCTION bsky.word_beginnings(text) IS 'The text search query for texts that have, for each of these words, a word that begins with it; null without a word.';

-- `skua index add names` and `display-names` create the indexes. The operators are those of LIKE, for any collation.
CREATE OR REPLACE FUNCTION bsky.search_accounts(words text, max_rows int4 DEFAULT 50) RETURNS SETOF bsky.actors_view
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50 AS $$
  SELECT v.* FROM (
    SELECT f.id, min(f.rank) AS rank, min(f.name) AS name FROM (
      (SELECT a.id, CASE WHEN coalesce(a.handle, a.did) = lower(ltrim(words, '@')) THEN 0 ELSE 1 END AS rank, coalesce(a.handle, a.did) AS name
       FROM bsky.actors a
       WHERE coalesce(a.handle, a.did) ~>=~ lower(ltrim(words, '@')) AND coalesce(a.handle, a.did) ~<~ (lower(ltrim(words, '@')) || U&'\+10FFFF')
         AND a.active IS NOT FALSE
       ORDER BY coalesce(a.handle, a.did) USING ~<~ LIMIT max_rows)
      UNION ALL
      (SELECT p.actor_id, 2, coalesce(a.handle, a.did) FROM bsky.profiles p JOIN bsky.actors a ON a.id = p.actor_id
       WHERE to_tsvector('simple', p.display_name) @@ (SELECT bsky.word_beginnings(words)) AND p.rkey = bsky.rkey_number('self')
         AND a.active IS NOT FALSE
       LIMIT max_rows)
    ) f GROUP BY f.id ORDER BY 2, 3 LIMIT max_rows
  ) k
  CROSS JOIN LATERAL (SELECT s.* FROM bsky.actors_view s WHERE s.id = k.id OFFSET 0) v
  ORDER BY k.rank, k.name
$$;
COMMENT ON FUNCTION bsky.search_accounts(text, int4) IS 'Active accounts whose name (handle, or DID) begins with the words, and then accounts whose display name has words that begin with them, as bsky.actors_view has them. `skua index add names` and `skua index add display-names` keep it from reading all accounts and profiles. At most max_rows rows.';

-- A record can refer to the target in several fields. Conditions on the columns of the result reach each table. OR makes PostgreSQL
-- read the rows in the order of the table, as for bsky.likes_of. Only the last part can have a row twice, for two texts of
-- the target.
CREATE OR REPLACE FUNCTION bsky.links_to(target text)
RETURNS TABLE (collection_id int4, path text, actor_id int8, rkey int8, sort_at timestamptz)
LANGUAGE sql STABLE ROWS 100 AS $$
  WITH k AS MATERIALIZED (
    SELECT r.actor_id, r.collection_id, r.rkey FROM bsky.resolve_uri(target) AS r
  ), a AS MATERIALIZED (
    -- The target is an account, unless it is a record.
    SELECT bsky.actor_id(target) AS actor_id WHERE bsky.at_uri(target) !~ '^at://[^/]+/.'
  ), texts AS MATERIALIZED (
    SELECT bsky.uri(k.actor_id, k.collection_id, k.rkey) AS text FROM k
    UNION ALL SELECT n.did FROM a JOIN bsky.actors AS n ON n.id = a.actor_id
    UNION ALL SELECT target WHERE target LIKE 'at://%' OR target LIKE 'did:%'
  )
  SELECT 2 AS collection_id, 'subject.uri' AS path, t.actor_id, t.rkey, least(t.created_at, t.indexed_at) AS sort_at
    FROM k JOIN bsky.likes AS t ON ((t.subject_actor = k.actor_id AND t.subject_rkey = k.rkey) OR (t.subject_actor = -1 AND t.subject_rkey = -1))
    AND t.subject_collection = k.collection_id
  UNION ALL SELECT 3, 'subject.uri', t.actor_id, t.rkey, least(t.created_at, t.indexed_at) FROM k JOIN bsky.reposts AS t
    ON ((t.subject_actor = k.actor_id AND t.subject_rkey = k.rkey) OR (t.subject_actor = -1 AND t.subject_rkey = -1))
    AND t.subject_collection = k.collection_id
  UNION ALL SELECT 1, 'reply.parent.uri', t.actor_id, t.rkey, least(t.created_at, t.indexed_at) FROM k JOIN bsky.posts AS t
    ON t.parent_actor = k.actor_id AND t.parent_rkey = k.rkey AND k.collection_id = 1
  UNION ALL SELECT 1, 'reply.root.uri', t.actor_id, t.rkey, least(t.created_at, t.indexed_at) FROM k JOIN bsky.posts AS t
    ON t.root_actor = k.actor_id AND t.root_rkey = k.rkey AND k.collection_id = 1
  UNION ALL SELECT 1, 'embed', t.actor_id, t.rkey, least(t.created_at, t.indexed_at) FROM k JOIN bsky.posts AS t
    ON t.quote_actor = k.actor_id AND t.quote_collection = k.collection_id AND t.quote_rkey = k.rkey
  UNION ALL SELECT 4, 'post', t.actor_id, t.rkey, least(t.created_at, t.indexed_at) FROM k JOIN bsky.threadgates AS t
    ON t.actor_id = k.actor_id AND t.rkey = k.rkey AND t.post_actor = k.actor_id AND t.post_rkey = k.rkey AND k.collection_id = 1
  UNION ALL SELECT 5, 'post', t.actor_id, t.rkey, least(t.created_at, t.indexed_at) FROM k JOIN bsky.postgates AS t
    ON t.actor_id = k.actor_id AND t.rkey = k.rkey AND t.post_actor = k.actor_id AND t.post_rkey = k.rkey AND k.collection_id = 1
  UNION ALL SELECT 10, 'list', t.actor_id, t.rkey, least(t.created_at, t.indexed_at) FROM k JOIN bsky.list_items AS t
    ON t.list_actor = k.actor_id AND t.list_rkey = k.rkey AND k.collection_id = 9
  UNION ALL SELECT 11, 'subject', t.actor_id, t.rkey, least(t.created_at, t.indexed_at) FROM k JOIN bsky.list_blocks AS t
    ON t.list_actor = k.actor_id AND t.list_rkey = k.rkey AND k.collection_id = 9
  UNION ALL SELECT 7, 'subject', t.actor_id, t.rkey, least(t.created_at, t.indexed_at) FROM a JOIN bsky.follows AS t
    ON t.subject_actor = a.actor_id OR (t.subject_actor = -1 AND t.actor_id = -1)
  UNION ALL SELECT 8, 'subject', t.actor_id, t.rkey, least(t.created_at, t.indexed_at)
    FROM a JOIN bsky.blocks AS t ON t.subject_actor = a.actor_id
  UNION ALL SELECT 10, 'subject', t.actor_id, t.rkey, least(t.created_at, t.indexed_at)
    FROM a JOIN bsky.list_items AS t ON t.subject_actor = a.actor_id
  UNION ALL SELECT 13, 'subject', t.actor_id, t.rkey, least(t.created_at, t.indexed_at)
    FROM a JOIN bsky.verifications AS t ON t.subject_actor = a.actor_id
  UNION ALL SELECT 1, 'facets', t.actor_id, t.rkey, least(t.created_at, t.indexed_at)
    FROM a JOIN bsky.posts AS t ON t.mentions @> ARRAY[a.actor_id]
  UNION ALL (SELECT DISTINCT t.collection_id, bsky.record_path(t.record, x.text), t.actor_id, t.rkey, t.indexed_at
    FROM texts AS x JOIN bsky.records AS t ON bsky.record_links(t.record) @> ARRAY[x.text]
    WHERE (SELECT skua.has_index('records_links')))
$$;
COMMENT ON FUNCTION bsky.links_to(text) IS 'The fields of records that refer to a record or an account, in no order: the collection (bsky.collections.id), the path of the field, the key of the record, and its time as sort_at of the views (records of collections without a table: indexed_at). Records of inactive accounts are included. The target is as for bsky.backlinks, which has names in place of numbers.';

-- skua.page_end of a page_key, which has the time in microseconds, the collection, the account, the record key and the path.
CREATE OR REPLACE FUNCTION skua.backlinks_end(before text, OUT sort_at timestamptz, OUT actor_id int8, OUT rkey int8,
  OUT collection_id int4, OUT path text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce('epoch'::timestamptz + split_part(before, ' ', 1)::int8 * interval '1 microsecond', 'infinity'),
         split_part(before, ' ', 3)::int8, split_part(before, ' ', 4)::int8, split_part(before, ' ', 2)::int4,
         substring(before FROM '^(?:\S+ ){4}(.*)$')
$$;
COMMENT ON FUNCTION skua.backlinks_end(text) IS 'The end of a page of bsky.backlinks: the sort_at, key, collection and path of its last row. Without before, sort_at is above all rows.';

-- Likes, reposts and follows can be very many. If their optional indexes exist, three parts read only the newest of them, as
-- bsky.likes_of does, and bsky.links_to leaves them out. The condition on the account is a subquery for each row, so that only the
-- first rows are looked up.
CREATE OR REPLACE FUNCTION bsky.backlinks(target text, max_rows int4 DEFAULT 100, in_collection text DEFAULT NULL, at_path text DEFAULT NULL,
  by_account text DEFAULT NULL, before text DEFAULT NULL)
RETURNS TABLE (collection text, path text, name text, uri text, sort_at timestamptz, actor_id int8, collection_id int4, rkey int8,
  page_key text)
LANGUAGE sql STABLE ROWS 100 AS $$
  WITH e AS MATERIALIZED (
    SELECT * FROM skua.backlinks_end(before)
  ), wanted AS MATERIALIZED (
    SELECT (SELECT c.id FROM bsky.collections AS c WHERE c.nsid = in_collection) AS collection_id, bsky.actor_id(by_account) AS actor_id,
           by_account IS NULL AND skua.has_index('likes_newest') AS newest_likes,
           by_account IS NULL AND skua.has_index('reposts_newest') AS newest_reposts,
           by_account IS NULL AND skua.has_index('follows_newest') AS newest_follows
  ), k AS MATERIALIZED (
    SELECT r.actor_id, r.collection_id, r.rkey FROM bsky.resolve_uri(target) AS r
  )
  SELECT c.nsid, f.path, coalesce(n.handle, n.did), bsky.uri(f.actor_id, f.collection_id, f.rkey), f.sort_at, f.actor_id,
         f.collection_id, f.rkey,
         concat_ws(' ', (extract(epoch FROM f.sort_at) * 1000000)::int8, f.collection_id, f.actor_id, f.rkey, f.path)
  FROM (
    SELECT * FROM (
      SELECT l.* FROM (
        SELECT t.* FROM bsky.links_to(target) AS t
        WHERE NOT (t.collection_id = 2 AND (SELECT newest_likes FROM wanted))
          AND NOT (t.collection_id = 3 AND (SELECT newest_reposts FROM wanted))
          AND NOT (t.collection_id = 7 AND (SELECT newest_follows FROM wanted))
        UNION ALL
        SELECT 2, 'subject.uri', t.* FROM k CROSS JOIN e CROSS JOIN LATERAL (
          SELECT l.actor_id, l.rkey, least(l.created_at, l.indexed_at) FROM bsky.likes AS l
          WHERE (SELECT newest_likes FROM wanted) AND l.subject_rkey = k.rkey AND l.subject_actor + 0 = k.actor_id
            AND l.subject_collection = k.collection_id AND least(l.created_at, l.indexed_at) <= e.sort_at
            AND (before IS NULL OR (least(l.created_at, l.indexed_at), l.actor_id, l.rkey) <= (e.sort_at, e.actor_id, e.rkey))
            AND (SELECT n.active FROM bsky.actors AS n WHERE n.id = l.actor_id) IS NOT FALSE
          ORDER BY least(l.created_at, l.indexed_at) DESC FETCH FIRST (coalesce(max_rows::int8 + 1, 2147483647)) ROWS WITH TIES) AS t
        UNION ALL
        SELECT 3, 'subject.uri', t.* FROM k CROSS JOIN e CROSS JOIN LATERAL (
          SELECT l.actor_id, l.rkey, least(l.created_at, l.indexed_at) FROM bsky.reposts AS l
          WHERE (SELECT newest_reposts FROM wanted) AND l.subject_rkey = k.rkey AND l.subject_actor + 0 = k.actor_id
            AND l.subject_collection = k.collection_id AND least(l.created_at, l.indexed_at) <= e.sort_at
            AND (before IS NULL OR (least(l.created_at, l.indexed_at), l.actor_id, l.rkey) <= (e.sort_at, e.actor_id, e.rkey))
            AND (SELECT n.active FROM bsky.actors AS n WHERE n.id = l.actor_id) IS NOT FALSE
          ORDER BY least(l.created_at, l.indexed_at) DESC FETCH FIRST (coalesce(max_rows::int8 + 1, 2147483647)) ROWS WITH TIES) AS t
        UNION ALL
        SELECT 7, 'subject', t.* FROM e CROSS JOIN LATERAL (
          SELECT l.actor_id, l.rkey, least(l.created_at, l.indexed_at) FROM bsky.follows AS l
          WHERE (SELECT newest_follows FROM wanted) AND bsky.at_uri(target) !~ '^at://[^/]+/.'
            AND l.subject_actor = (SELECT bsky.actor_id(target)) AND least(l.created_at, l.indexed_at) <= e.sort_at
            AND (before IS NULL OR (least(l.created_at, l.indexed_at), l.actor_id, l.rkey) <= (e.sort_at, e.actor_id, e.rkey))
            AND (SELECT n.active FROM bsky.actors AS n WHERE n.id = l.actor_id) IS NOT FALSE
          ORDER BY least(l.created_at, l.indexed_at) DESC FETCH FIRST (coalesce(max_rows::int8 + 1, 2147483647)) ROWS WITH TIES) AS t
      ) AS l
      WHERE (in_collection IS NULL OR l.collection_id = (SELECT w.collection_id FROM wanted AS w))
        AND (at_path IS NULL OR l.path = at_path)
        AND (by_account IS NULL OR l.actor_id = (SELECT w.actor_id FROM wanted AS w))
        -- Many records can have the same time, and a record can refer to the target in several fields.
        AND (before IS NULL OR (l.sort_at, l.actor_id, l.rkey, l.collection_id, l.path)
          < (SELECT e.sort_at, e.actor_id, e.rkey, e.collection_id, e.path FROM e))
      ORDER BY l.sort_at DESC, l.actor_id DESC, l.rkey DESC, l.collection_id DESC, l.path DESC
    ) AS l
    WHERE (SELECT n.active FROM bsky.actors AS n WHERE n.id = l.actor_id) IS NOT FALSE
    ORDER BY l.sort_at DESC, l.actor_id DESC, l.rkey DESC, l.collection_id DESC, l.path DESC LIMIT max_rows
  ) AS f
  JOIN bsky.collections AS c ON c.id = f.collection_id
  JOIN bsky.actors AS n ON n.id = f.actor_id
  ORDER BY f.sort_at DESC, f.actor_id DESC, f.rkey DESC, f.collection_id DESC, f.path DESC
$$;
COMMENT ON FUNCTION bsky.backlinks(text, int4, text, text, text, text) IS 'The records that refer to a record or an account, newest first: collection, path of the field, account, URI and sort_at as the views have it (records of collections without a table: indexed_at). The target is an AT-URI, a DID, a handle or a bsky.app URL. in_collection: only records of this NSID. at_path: only references in this field, such as subject.uri. by_account: only records of this account. before: only the rows after the one with this page_key. Records of collections without a table are found with the index of `skua index add backlinks` only. At most max_rows rows. `skua index add` newest-likes, newest-reposts and newest-followers make it fast for a target with very many.';

-- If at most 30,000 accounts are inactive, they are read once, and a hash of them fits into work_mem. Otherwise the inactive ones among the
-- accounts of the links are found with one array: a look-up for each row takes twice as long, and in a query database it would ask a
-- node each time.
CREATE OR REPLACE FUNCTION bsky.backlink_counts(target text)
RETURNS TABLE (collection text, path text, records int8, accounts int8)
LANGUAGE sql STABLE ROWS 20 AS $$
  WITH inactive AS MATERIALIZED (
    SELECT n.id FROM bsky.actors AS n WHERE NOT n.active LIMIT 30001
  ), known AS MATERIALIZED (
    SELECT count(*) <= 30000 AS is_complete FROM inactive
  )
  SELECT c.nsid, l.path, l.records, l.accounts
  FROM (SELECT l.collection_id, l.path, count(*) AS records, count(DISTINCT l.actor_id) AS accounts
        FROM bsky.links_to(target) AS l
        WHERE l.actor_id NOT IN (
          SELECT i.id FROM inactive AS i WHERE (SELECT is_complete FROM known)
          UNION ALL SELECT n.id FROM bsky.actors AS n
          WHERE NOT n.active AND n.id = ANY (ARRAY(
            SELECT k.actor_id FROM bsky.links_to(target) AS k WHERE NOT (SELECT is_complete FROM known))))
        GROUP BY l.collection_id, l.path) AS l
  JOIN bsky.collections AS c ON c.id = l.collection_id
  ORDER BY l.records DESC, c.nsid, l.path
$$;
COMMENT ON FUNCTION bsky.backlink_counts(text) IS 'The numbers of records that refer to a record or an account, and of their accounts, by collection and path of the field. The target is as for bsky.backlinks.';
