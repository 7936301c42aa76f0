-- Records as JSON, as their authors wrote them, from the columns of the tables. The functions bsky.record_json(row)
-- are made by skua.make_record_json from the columns: a new table needs a row in skua.record_tables, a row in
-- skua.record_fields for each column whose field does not follow from its name, and a call of that function.

CREATE TABLE skua.record_tables (
  collection_id int4 NOT NULL PRIMARY KEY,
  name          text NOT NULL UNIQUE
);
COMMENT ON TABLE skua.record_tables IS 'The tables of bsky that hold the records of one collection.';
COMMENT ON COLUMN skua.record_tables.collection_id IS 'The collection (bsky.collections.id).';
COMMENT ON COLUMN skua.record_tables.name IS 'The table, without its schema.';
INSERT INTO skua.record_tables VALUES
  (1, 'posts'), (2, 'likes'), (3, 'reposts'), (4, 'threadgates'), (5, 'postgates'), (6, 'feed_generators'), (7, 'follows'),
  (8, 'blocks'), (9, 'lists'), (10, 'list_items'), (11, 'list_blocks'), (12, 'starter_packs'), (13, 'verifications'),
  (14, 'profiles'), (15, 'statuses'), (16, 'chat_declarations'), (17, 'notification_declarations'),
  (18, 'germ_declarations'), (19, 'labelers');

CREATE TABLE skua.record_fields (
  table_name    text NOT NULL,
  column_name   text NOT NULL,
  field         text,
  collection_id int4,
  value         text,
  PRIMARY KEY (table_name, column_name)
);
COMMENT ON TABLE skua.record_fields IS 'Fields of records that do not follow from the name and type of a column (skua.make_record_json).';
COMMENT ON COLUMN skua.record_fields.table_name IS 'The table (skua.record_tables.name).';
COMMENT ON COLUMN skua.record_fields.column_name IS 'The column; of a reference and of a blob without its ending, such as subject for subject_actor.';
COMMENT ON COLUMN skua.record_fields.field IS 'The field of the record; null: the column is no field.';
COMMENT ON COLUMN skua.record_fields.collection_id IS 'The collection of the target (bsky.collections.id), if no column has it.';
COMMENT ON COLUMN skua.record_fields.value IS 'The value as an SQL expression of the row t; null: it follows from the columns.';
INSERT INTO skua.record_fields VALUES
  ('posts', 'parent', 'reply', NULL,
   'CASE WHEN t.parent_actor IS NOT NULL AND t.root_actor IS NOT NULL THEN jsonb_build_object('
   '''root'', jsonb_build_object(''uri'', bsky.uri(t.root_actor, 1, t.root_rkey), ''cid'', bsky.cid_text(t.root_cid)), '
   '''parent'', jsonb_build_object(''uri'', bsky.uri(t.parent_actor, 1, t.parent_rkey), ''cid'', bsky.cid_text(t.parent_cid))) END'),
  ('posts', 'root', NULL, NULL, NULL),
  ('posts', 'quote', NULL, NULL, NULL),
  ('posts', 'is_deleted', NULL, NULL, NULL),
  ('likes', 'via', 'via', 3, NULL),
  ('reposts', 'via', 'via', 3, NULL),
  ('threadgates', 'post', 'post', 1, NULL),
  ('threadgates', 'is_restricted', 'allow', NULL,
   'CASE WHEN t.is_restricted THEN (SELECT coalesce(jsonb_agg(r.rule), ''[]'') FROM ('
   'SELECT jsonb_build_object(''$type'', ''app.bsky.feed.threadgate#mentionRule'') WHERE t.allow_mentioned UNION ALL '
   'SELECT jsonb_build_object(''$type'', ''app.bsky.feed.threadgate#followingRule'') WHERE t.allow_following UNION ALL '
   'SELECT jsonb_build_object(''$type'', ''app.bsky.feed.threadgate#followerRule'') WHERE t.allow_followers UNION ALL '
   'SELECT jsonb_build_object(''$type'', ''app.bsky.feed.threadgate#listRule'', ''list'', l.uri) '
   'FROM unnest(t.allow_lists) AS l(uri)) AS r(rule)) END'),
  ('threadgates', 'allow_mentioned', NULL, NULL, NULL),
  ('threadgates', 'allow_following', NULL, NULL, NULL),
  ('threadgates', 'allow_followers', NULL, NULL, NULL),
  ('threadgates', 'allow_lists', NULL, NULL, NULL),
  ('postgates', 'post', 'post', 1, NULL),
  ('postgates', 'embedding_disabled', 'embeddingRules', NULL,
   'CASE WHEN t.embedding_disabled THEN ''[{"$type": "app.bsky.feed.postgate#disableRule"}]''::jsonb END'),
  ('postgates', 'detached_uris', 'detachedEmbeddingUris', NULL, NULL),
  ('feed_generators', 'service_did', 'did', NULL, NULL),
  ('list_items', 'list', 'list', 9, NULL),
  ('list_blocks', 'list', 'subject', 9, NULL),
  ('starter_packs', 'list', 'list', 9, NULL),
  ('starter_packs', 'feeds', 'feeds', NULL,
   'CASE WHEN t.feeds IS NOT NULL THEN (SELECT coalesce(jsonb_agg(jsonb_build_object(''uri'', f.uri)), ''[]'') '
   'FROM unnest(t.feeds) AS f(uri)) END'),
  ('profiles', 'pinned', 'pinnedPost', 1, NULL),
  ('profiles', 'joined_via', 'joinedViaStarterPack', 12, NULL);

-- A time has milliseconds, as most clients write it, or microseconds if it is finer.
CREATE FUNCTION bsky.time_text(at timestamptz) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  utc timestamp := at AT TIME ZONE 'UTC';
BEGIN
  RETURN CASE WHEN extract(year FROM utc) < 0 THEN '0000' ELSE to_char(utc, 'YYYY') END
    || to_char(utc, CASE WHEN utc = date_trunc('milliseconds', utc) THEN '-MM-DD"T"HH24:MI:SS.MS"Z"'
                         ELSE '-MM-DD"T"HH24:MI:SS.US"Z"' END);
END
$$;
COMMENT ON FUNCTION bsky.time_text(timestamptz) IS 'A time as a datetime of the AT Protocol, in UTC.';

-- The expression of a field. `stem` is the column without the ending of a reference or blob.
CREATE FUNCTION skua.record_value(table_name text, stem text, target int4) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
  columns jsonb := (
    SELECT jsonb_object_agg(a.attname, format_type(a.atttypid, NULL)) FROM pg_attribute AS a
    WHERE a.attrelid = ('bsky.' || table_name)::regclass AND a.attnum > 0 AND NOT a.attisdropped);
  uri text := format('bsky.uri(t.%s_actor, %s, t.%1$s_rkey)', stem,
                     CASE WHEN columns ? (stem || '_collection') THEN format('t.%s_collection', stem) ELSE target::text END);
BEGIN
  RETURN CASE
    WHEN columns ? (stem || '_actor') AND columns ? (stem || '_cid') THEN
      format('CASE WHEN t.%s_actor IS NOT NULL THEN jsonb_build_object(''uri'', %s, ''cid'', bsky.cid_text(t.%1$s_cid)) END', stem, uri)
    WHEN columns ? (stem || '_actor') AND columns ? (stem || '_rkey') THEN format('to_jsonb(%s)', uri)
    WHEN columns ? (stem || '_actor') THEN format('to_jsonb((SELECT a.did FROM bsky.actors AS a WHERE a.id = t.%s_actor))', stem)
    WHEN columns ? (stem || '_cid') THEN
      format('CASE WHEN t.%s_cid IS NOT NULL THEN jsonb_build_object(''$type'', ''blob'', ''ref'', jsonb_build_object(''$link'', t.%1$s_cid)) END', stem)
    WHEN columns ->> stem = 'bytea' THEN
      format('CASE WHEN t.%s IS NOT NULL THEN jsonb_build_object(''$bytes'', translate(encode(t.%1$s, ''base64''), E''=\n'', '''')) END', stem)
    WHEN columns ->> stem = 'timestamp with time zone' THEN format('to_jsonb(bsky.time_text(t.%s))', stem)
    WHEN stem = 'labels' THEN
      'CASE WHEN t.labels IS NOT NULL THEN jsonb_build_object(''$type'', ''com.atproto.label.defs#selfLabels'', ''values'', '
      '(SELECT coalesce(jsonb_agg(jsonb_build_object(''val'', l.val)), ''[]'') FROM unnest(t.labels) AS l(val))) END'
    ELSE format('to_jsonb(t.%s)', stem) END;
END
$$;
COMMENT ON FUNCTION skua.record_value(text, text, int4) IS 'The SQL expression of a field of a record of the row t: of a column, or of the columns of a reference or blob.';

CREATE FUNCTION skua.make_record_json() RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  tables CONSTANT text := (
    SELECT string_agg(format('SELECT k.place, t.cid, bsky.record_json(t) FROM keys AS k JOIN bsky.%I AS t '
                             'ON t.actor_id = k.actor_id AND t.rkey = k.rkey WHERE k.collection_id = %s AND t.cid IS NOT NULL',
                             r.name, r.collection_id), ' UNION ALL ' ORDER BY r.collection_id)
    FROM skua.record_tables AS r);
  item record;
  fields text;
BEGIN
  FOR item IN SELECT r.name, c.nsid FROM skua.record_tables AS r JOIN bsky.collections AS c ON c.id = r.collection_id LOOP
    fields := (
      SELECT string_agg(format('(%L, %s)', s.field, coalesce(s.value, skua.record_value(item.name, s.stem, s.collection_id))),
                        ', ' ORDER BY s.place)
      FROM (
        SELECT p.stem, p.place, f.value, f.collection_id,
          CASE WHEN f.table_name IS NOT NULL THEN f.field
               -- camelCase
               ELSE left(p.stem, 1) || substr(replace(initcap(p.stem), '_', ''), 2) END AS field
        FROM (
          SELECT regexp_replace(a.attname, '_(actor|rkey|collection|cid)$', '') AS stem, min(a.attnum) AS place
          FROM pg_attribute AS a
          WHERE a.attrelid = ('bsky.' || item.name)::regclass AND a.attnum > 0 AND NOT a.attisdropped
            AND a.attname NOT IN ('actor_id', 'rkey', 'rev', 'cid', 'indexed_at', 'extra')
          GROUP BY 1
        ) AS p
        LEFT JOIN skua.record_fields AS f ON f.table_name = item.name AND f.column_name = p.stem
      ) AS s
      WHERE s.field IS NOT NULL);
    EXECUTE format($f$
      CREATE OR REPLACE FUNCTION bsky.record_json(t bsky.%I) RETURNS jsonb
      LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $b$
      BEGIN
        RETURN CASE WHEN t.cid IS NOT NULL THEN jsonb_build_object('$type', %L) || coalesce(
          (SELECT jsonb_object_agg(f.field, f.value) FROM (VALUES %s) AS f(field, value) WHERE f.value IS NOT NULL), '{}')
          || coalesce(t.extra, '{}') END;
      END
      $b$ $f$, item.name, item.nsid, fields);
    EXECUTE format('COMMENT ON FUNCTION bsky.record_json(bsky.%I) IS %L', item.name,
                   'The record of a row as JSON (' || item.nsid || ').');
  END LOOP;
  EXECUTE format($f$
    CREATE OR REPLACE FUNCTION bsky.record_json(actor_ids int4[], collection_ids int4[], rkeys int8[])
    RETURNS TABLE (place int8, cid bytea, record jsonb)
    LANGUAGE sql STABLE PARALLEL SAFE AS $b$
      WITH keys AS MATERIALIZED (
        SELECT * FROM unnest(actor_ids, collection_ids, rkeys) WITH ORDINALITY AS k(actor_id, collection_id, rkey, place))
      SELECT k.place, t.cid, t.record FROM keys AS k JOIN bsky.records AS t
        ON t.actor_id = k.actor_id AND t.collection_id = k.collection_id AND t.rkey = k.rkey
      UNION ALL %s
    $b$ $f$, tables);
END
$$;
COMMENT ON FUNCTION skua.make_record_json() IS 'Makes the functions bsky.record_json again, after a change of skua.record_tables, skua.record_fields or the columns of a table.';

SELECT skua.make_record_json();
COMMENT ON FUNCTION bsky.record_json(int4[], int4[], int8[]) IS 'The current records of these keys as JSON, with the SHA-256 of each. The place of a key counts from 1; a key without a record has no row.';

CREATE FUNCTION bsky.record_json(uri text) RETURNS jsonb
LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT r.record FROM bsky.resolve_uri(uri) AS u,
    bsky.record_json(ARRAY[u.actor_id], ARRAY[u.collection_id], ARRAY[u.rkey]) AS r
$$;
COMMENT ON FUNCTION bsky.record_json(text) IS 'The current record of an AT-URI as JSON.';

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'skua_reader') THEN
    PERFORM skua.grant_reader();
  END IF;
END
$$;
