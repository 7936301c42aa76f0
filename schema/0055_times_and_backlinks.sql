-- The time of a record key beside createdAt, the creation time of accounts, and backlinks.

CREATE FUNCTION bsky.tid_time(n int8) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN n >= 0 THEN timestamptz 'epoch' + ((n >> 10) / 1000000) * interval '1 second' + ((n >> 10) % 1000000) * interval '1 microsecond' END
$$;
COMMENT ON FUNCTION bsky.tid_time(int8) IS 'The time in a timestamp identifier: of a record key or a revision. Null for a record key that is not a timestamp.';

CREATE FUNCTION bsky.has_doubtful_time(key int8, created_at timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT abs(extract(epoch FROM created_at - bsky.tid_time(key))) > 86400
$$;
COMMENT ON FUNCTION bsky.has_doubtful_time(int8, timestamptz) IS 'True if createdAt of a record differs by more than a day from the time in its key, as for records that were imported or have a wrong time. Null if the key is not a timestamp or the record states no time.';

-- New columns stand last, so that views that others have made of these stay valid.
DO $$
DECLARE
  v record;
BEGIN
  FOR v IN
    SELECT c.oid, c.relname, t.name, rtrim(pg_get_viewdef(c.oid), '; ') AS definition
    FROM skua.record_tables AS t JOIN bsky.collections AS n ON n.id = t.collection_id
    JOIN pg_class AS c ON c.relnamespace = 'bsky'::regnamespace AND c.relname = t.name || '_view'
    -- Records whose key is always the same have no time in it.
    WHERE t.name NOT IN ('profiles', 'statuses', 'chat_declarations', 'notification_declarations', 'germ_declarations', 'labelers', 'visibility_declarations')
  LOOP
    EXECUTE format('CREATE OR REPLACE VIEW bsky.%I AS %s', v.relname,
                   regexp_replace(v.definition, '\n   FROM ', E',\n    bsky.has_doubtful_time(t.rkey, t.created_at) AS has_doubtful_time\n   FROM '));
    EXECUTE format('COMMENT ON COLUMN bsky.%I.has_doubtful_time IS %L', v.relname,
                   'True if created_at differs by more than a day from the time in the record key. Null if the key is not a timestamp or created_at is null.');
  END LOOP;
END
$$;

ALTER TABLE skua.identities ADD created_at timestamptz;
COMMENT ON COLUMN skua.identities.created_at IS 'The time of the first operation of the DID; null: no import has had it.';
CREATE OR REPLACE VIEW bsky.actors_view AS
SELECT a.did,
       a.handle,
       p.display_name,
       p.description,
       p.avatar_cid,
       a.active,
       a.status,
       a.status_time,
       p.created_at,
       a.indexed_at,
       a.id,
       a.handle_valid,
       CASE WHEN (SELECT bsky.is_current('actor_stats')) THEN coalesce(stats.followers, 0) END AS followers,
       CASE WHEN (SELECT bsky.is_current('actor_stats')) THEN coalesce(stats.follows, 0) END AS follows,
       CASE WHEN (SELECT bsky.is_current('actor_stats')) THEN coalesce(stats.posts, 0) END AS posts,
       coalesce(a.handle, a.did) AS name,
       i.created_at AS account_created_at
FROM bsky.actors a
LEFT JOIN bsky.profiles p ON p.actor_id = a.id AND p.rkey = bsky.rkey_number('self') AND a.active IS NOT FALSE
LEFT JOIN bsky.actor_stats stats ON stats.actor_id = a.id AND a.active IS NOT FALSE
LEFT JOIN skua.identities i ON i.did = a.did;
COMMENT ON COLUMN bsky.actors_view.account_created_at IS 'The time of the first operation of the DID in the PLC directory; null unless `skua identity import` has read it.';

CREATE FUNCTION bsky.record_links(record jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(DISTINCT s.value #>> '{}'), '{}')
  FROM jsonb_path_query(record, 'strict $.** ? (@.type() == "string" && (@ starts with "at://" || @ starts with "did:"))') AS s(value)
  -- PostgreSQL does not index longer values.
  WHERE octet_length(s.value #>> '{}') <= 2000
$$;
COMMENT ON FUNCTION bsky.record_links(jsonb) IS 'The AT-URIs and DIDs anywhere in a record. The index of `skua index add backlinks` has them.';

CREATE FUNCTION bsky.record_path(record jsonb, target text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  WITH RECURSIVE v(path, value) AS (
    SELECT '', record
    UNION ALL
    SELECT v.path || c.step, c.value FROM v CROSS JOIN LATERAL (
      SELECT CASE WHEN v.path = '' THEN '' ELSE '.' END || o.key AS step, o.value
      FROM jsonb_each(CASE WHEN jsonb_typeof(v.value) = 'object' THEN v.value END) AS o
      UNION ALL
      SELECT '[' || e.place - 1 || ']', e.value
      FROM jsonb_array_elements(CASE WHEN jsonb_typeof(v.value) = 'array' THEN v.value END) WITH ORDINALITY AS e(value, place)
    ) AS c
  )
  SELECT min(v.path) FROM v WHERE v.value = to_jsonb(target)
$$;
COMMENT ON FUNCTION bsky.record_path(jsonb, text) IS 'The path of the first field of a record that has this text, such as subject.uri or items[0].ref; null if there is none.';

CREATE FUNCTION bsky.backlinks(target text, max_rows int4 DEFAULT 100)
RETURNS TABLE (collection text, path text, name text, uri text, indexed_at timestamptz, actor_id int4, collection_id int4, rkey int8)
LANGUAGE sql STABLE ROWS 100 AS $$
  WITH k AS MATERIALIZED (
    SELECT r.actor_id, r.collection_id, r.rkey FROM bsky.resolve_uri(target) AS r
  ), a AS MATERIALIZED (
    -- An account, unless the target is a record.
    SELECT bsky.actor_id(target) AS actor_id WHERE bsky.at_uri(target) !~ '^at://[^/]+/.'
  ), texts AS MATERIALIZED (
    SELECT bsky.uri(k.actor_id, k.collection_id, k.rkey) AS text FROM k
    UNION ALL SELECT n.did FROM a JOIN bsky.actors AS n ON n.id = a.actor_id
    UNION ALL SELECT target WHERE target LIKE 'at://%' OR target LIKE 'did:%'
  ), found AS (
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
  )
  SELECT c.nsid, f.path, coalesce(n.handle, n.did), bsky.uri(f.actor_id, f.collection_id, f.rkey), f.indexed_at, f.actor_id, f.collection_id, f.rkey
  FROM (SELECT DISTINCT * FROM found ORDER BY indexed_at DESC, collection_id, actor_id, rkey, path LIMIT max_rows) AS f
  JOIN bsky.collections AS c ON c.id = f.collection_id
  JOIN bsky.actors AS n ON n.id = f.actor_id AND n.active IS NOT FALSE
  ORDER BY f.indexed_at DESC, f.collection_id, f.actor_id, f.rkey, f.path
$$;
COMMENT ON FUNCTION bsky.backlinks(text, int4) IS 'The records that refer to a record or an account, newest first: collection, path of the field, account and URI. The target is an AT-URI, a DID, a handle or a bsky.app URL. Records of collections without a table are found with the index of `skua index add backlinks` only. At most max_rows rows.';

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'skua_reader') THEN
    PERFORM skua.grant_reader();
  END IF;
END
$$;
