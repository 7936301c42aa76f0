-- Posts by their words, and records by the records and accounts that they refer to.

-- `skua index add search` creates the index. The configuration 'simple' suits all languages, because it does not reduce words.
CREATE OR REPLACE FUNCTION bsky.search(words text, max_rows int4 DEFAULT 50) RETURNS SETOF bsky.posts_view
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
  -- With OFFSET each post is looked up by its key.
  CROSS JOIN LATERAL (SELECT v.* FROM bsky.posts_view v WHERE v.actor_id = k.actor_id AND v.rkey = k.rkey OFFSET 0) p
  ORDER BY k.sort_at DESC LIMIT max_rows
$$;
COMMENT ON FUNCTION bsky.search(text, int4) IS 'Posts whose text contains words, newest first, as bsky.posts_view has them. The words are as websearch_to_tsquery reads them: all of them, "a phrase", or, -without. Without the index of `skua index add search` it searches the newest 5,000 posts only. At most max_rows rows.';

-- A record can refer to the target in several fields. Conditions on the columns of the result reach each table.
CREATE OR REPLACE FUNCTION bsky.links_to(target text)
RETURNS TABLE (collection_id int4, path text, actor_id int8, rkey int8, indexed_at timestamptz)
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
  SELECT 2 AS collection_id, 'subject.uri' AS path, t.actor_id, t.rkey, t.indexed_at FROM k JOIN bsky.likes AS t
    ON t.subject_actor = k.actor_id AND t.subject_collection = k.collection_id AND t.subject_rkey = k.rkey
  UNION ALL SELECT 3, 'subject.uri', t.actor_id, t.rkey, t.indexed_at FROM k JOIN bsky.reposts AS t
    ON t.subject_actor = k.actor_id AND t.subject_collection = k.collection_id AND t.subject_rkey = k.rkey
  UNION ALL SELECT 1, 'reply.parent.uri', t.actor_id, t.rkey, t.indexed_at FROM k JOIN bsky.posts AS t
    ON t.parent_actor = k.actor_id AND t.parent_rkey = k.rkey AND k.collection_id = 1
  UNION ALL SELECT 1, 'reply.root.uri', t.actor_id, t.rkey, t.indexed_at FROM k JOIN bsky.posts AS t
    ON t.root_actor = k.actor_id AND t.root_rkey = k.rkey AND k.collection_id = 1
  UNION ALL SELECT 1, 'embed', t.actor_id, t.rkey, t.indexed_at FROM k JOIN bsky.posts AS t
    ON t.quote_actor = k.actor_id AND t.quote_collection = k.collection_id AND t.quote_rkey = k.rkey
  UNION ALL SELECT 4, 'post', t.actor_id, t.rkey, t.indexed_at FROM k JOIN bsky.threadgates AS t
    ON t.actor_id = k.actor_id AND t.rkey = k.rkey AND t.post_actor = k.actor_id AND t.post_rkey = k.rkey AND k.collection_id = 1
  UNION ALL SELECT 5, 'post', t.actor_id, t.rkey, t.indexed_at FROM k JOIN bsky.postgates AS t
    ON t.actor_id = k.actor_id AND t.rkey = k.rkey AND t.post_actor = k.actor_id AND t.post_rkey = k.rkey AND k.collection_id = 1
  UNION ALL SELECT 10, 'list', t.actor_id, t.rkey, t.indexed_at FROM k JOIN bsky.list_items AS t
    ON t.list_actor = k.actor_id AND t.list_rkey = k.rkey AND k.collection_id = 9
  UNION ALL SELECT 11, 'subject', t.actor_id, t.rkey, t.indexed_at FROM k JOIN bsky.list_blocks AS t
    ON t.list_actor = k.actor_id AND t.list_rkey = k.rkey AND k.collection_id = 9
  UNION ALL SELECT 7, 'subject', t.actor_id, t.rkey, t.indexed_at FROM a JOIN bsky.follows AS t ON t.subject_actor = a.actor_id
  UNION ALL SELECT 8, 'subject', t.actor_id, t.rkey, t.indexed_at FROM a JOIN bsky.blocks AS t ON t.subject_actor = a.actor_id
  UNION ALL SELECT 10, 'subject', t.actor_id, t.rkey, t.indexed_at FROM a JOIN bsky.list_items AS t ON t.subject_actor = a.actor_id
  UNION ALL SELECT 13, 'subject', t.actor_id, t.rkey, t.indexed_at FROM a JOIN bsky.verifications AS t ON t.subject_actor = a.actor_id
  UNION ALL SELECT 1, 'facets', t.actor_id, t.rkey, t.indexed_at FROM a JOIN bsky.posts AS t ON t.mentions @> ARRAY[a.actor_id]
  UNION ALL SELECT t.collection_id, bsky.record_path(t.record, x.text), t.actor_id, t.rkey, t.indexed_at
    FROM texts AS x JOIN bsky.records AS t ON bsky.record_links(t.record) @> ARRAY[x.text]
    WHERE (SELECT to_regclass('bsky.records_links') IS NOT NULL)
$$;
COMMENT ON FUNCTION bsky.links_to(text) IS 'The fields of records that refer to a record or an account, in no order: the collection (bsky.collections.id), the path of the field, and the key of the record. Records of inactive accounts are included. The target is as for bsky.backlinks, which has names in place of numbers.';

-- The condition on the account is a subquery for each row, so that only the first rows are looked up.
CREATE OR REPLACE FUNCTION bsky.backlinks(target text, max_rows int4 DEFAULT 100, in_collection text DEFAULT NULL, at_path text DEFAULT NULL,
  by_account text DEFAULT NULL, before text DEFAULT NULL)
RETURNS TABLE (collection text, path text, name text, uri text, indexed_at timestamptz, actor_id int8, collection_id int4, rkey int8,
  page_key text)
LANGUAGE sql STABLE ROWS 100 AS $$
  SELECT c.nsid, f.path, coalesce(n.handle, n.did), bsky.uri(f.actor_id, f.collection_id, f.rkey), f.indexed_at, f.actor_id,
         f.collection_id, f.rkey,
         concat_ws(' ', (extract(epoch FROM f.indexed_at) * 1000000)::int8, f.collection_id, f.actor_id, f.rkey, f.path)
  FROM (
    SELECT * FROM (
      SELECT DISTINCT l.* FROM bsky.links_to(target) AS l
      WHERE (in_collection IS NULL OR l.collection_id = (SELECT c.id FROM bsky.collections AS c WHERE c.nsid = in_collection))
        AND (at_path IS NULL OR l.path = at_path)
        AND (by_account IS NULL OR l.actor_id = (SELECT bsky.actor_id(by_account)))
        -- Many records can have the same time.
        AND (before IS NULL OR (-(extract(epoch FROM l.indexed_at) * 1000000)::int8, l.collection_id, l.actor_id, l.rkey, l.path)
          > (-split_part(before, ' ', 1)::int8, split_part(before, ' ', 2)::int4, split_part(before, ' ', 3)::int8,
             split_part(before, ' ', 4)::int8, substring(before FROM '^(?:\S+ ){4}(.*)$')))
      ORDER BY l.indexed_at DESC, l.collection_id, l.actor_id, l.rkey, l.path
    ) AS l
    WHERE (SELECT n.active FROM bsky.actors AS n WHERE n.id = l.actor_id) IS NOT FALSE
    ORDER BY l.indexed_at DESC, l.collection_id, l.actor_id, l.rkey, l.path LIMIT max_rows
  ) AS f
  JOIN bsky.collections AS c ON c.id = f.collection_id
  JOIN bsky.actors AS n ON n.id = f.actor_id
  ORDER BY f.indexed_at DESC, f.collection_id, f.actor_id, f.rkey, f.path
$$;
COMMENT ON FUNCTION bsky.backlinks(text, int4, text, text, text, text) IS 'The records that refer to a record or an account, newest first: collection, path of the field, account and URI. The target is an AT-URI, a DID, a handle or a bsky.app URL. in_collection: only records of this NSID. at_path: only references in this field, such as subject.uri. by_account: only records of this account. before: only the rows after the one with this page_key. Records of collections without a table are found with the index of `skua index add backlinks` only. At most max_rows rows.';

CREATE OR REPLACE FUNCTION bsky.backlink_counts(target text)
RETURNS TABLE (collection text, path text, records int8, accounts int8)
LANGUAGE sql STABLE ROWS 20 AS $$
  SELECT c.nsid, l.path, l.records, l.accounts
  FROM (SELECT l.collection_id, l.path, count(DISTINCT (l.actor_id, l.rkey)) AS records, count(DISTINCT l.actor_id) AS accounts
        FROM bsky.links_to(target) AS l
        WHERE (SELECT n.active FROM bsky.actors AS n WHERE n.id = l.actor_id) IS NOT FALSE GROUP BY 1, 2) AS l
  JOIN bsky.collections AS c ON c.id = l.collection_id
  ORDER BY l.records DESC, c.nsid, l.path
$$;
COMMENT ON FUNCTION bsky.backlink_counts(text) IS 'The numbers of records that refer to a record or an account, and of their accounts, by collection and path of the field. The target is as for bsky.backlinks.';
