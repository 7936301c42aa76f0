-- Records as JSON, as their authors wrote them, from the columns of the tables. The JSON of a record encodes to its CID
-- (atproto.com/specs/data-model), except for a record that JSON in the database cannot hold: its block is stored, too.
--
-- A key of `extra` that begins with `$` is no field of the record. `$avatar` and `$banner` have the members of a blob that no
-- column has, `$type` is null if the author wrote none, and `$cbor` is the block of the record in base64.

CREATE OR REPLACE FUNCTION skua.reference_cid(stem text, collection text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT format('coalesce(t.%s_cid, CASE WHEN %s = 1 THEN (SELECT coalesce(p.first_cid, p.cid) FROM bsky.posts AS p '
                'WHERE p.actor_id = t.%1$s_actor AND p.rkey = t.%1$s_rkey) END)', stem, collection)
$$;
COMMENT ON FUNCTION skua.reference_cid(text, text) IS 'The SQL expression of the SHA-256 of a reference of the row t. A null CID of a reference to a post stands for the first CID of the post.';

-- `stem` is the name of the column without the ending of a reference or blob.
CREATE OR REPLACE FUNCTION skua.record_value(table_name text, stem text, target int4) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
  columns jsonb := (
    SELECT jsonb_object_agg(a.attname, format_type(a.atttypid, NULL)) FROM pg_attribute AS a
    WHERE a.attrelid = ('bsky.' || table_name)::regclass AND a.attnum > 0 AND NOT a.attisdropped);
  collection text := CASE WHEN columns ? (stem || '_collection') THEN format('t.%s_collection', stem) ELSE target::text END;
  uri text := format('bsky.uri(t.%s_actor, %s, t.%1$s_rkey)', stem, collection);
BEGIN
  RETURN CASE
    WHEN columns ? (stem || '_actor') AND columns ? (stem || '_cid') THEN
      format('CASE WHEN t.%s_actor IS NOT NULL THEN jsonb_build_object(''uri'', %s, ''cid'', bsky.cid_text(%s)) END', stem, uri,
             skua.reference_cid(stem, collection))
    WHEN columns ? (stem || '_actor') AND columns ? (stem || '_rkey') THEN format('to_jsonb(%s)', uri)
    WHEN columns ? (stem || '_actor') THEN format('to_jsonb((SELECT a.did FROM bsky.actors AS a WHERE a.id = t.%s_actor))', stem)
    WHEN columns ? (stem || '_cid') THEN
      format('CASE WHEN t.%s_cid IS NOT NULL THEN jsonb_build_object(''$type'', ''blob'', ''ref'', jsonb_build_object(''$link'', t.%1$s_cid)) '
             '|| coalesce(t.extra -> ''$%1$s'', ''{}'') END', stem)
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

CREATE OR REPLACE FUNCTION skua.make_record_json() RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  tables CONSTANT text := (
    SELECT string_agg(format('SELECT k.place, t.cid, bsky.record_json(t), decode(t.extra ->> ''$cbor'', ''base64'') FROM keys AS k JOIN bsky.%I AS t '
                             'ON t.actor_id = k.actor_id AND t.rkey = k.rkey WHERE k.collection_id = %s AND t.cid IS NOT NULL',
                             r.name, r.collection_id), ' UNION ALL ' ORDER BY r.collection_id)
    FROM skua.record_tables AS r);
  item record;
  fields text;
  -- The members of `extra` that are no fields.
  own_members CONSTANT text := '{$cbor,$avatar,$banner}';
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
            AND a.attname NOT IN ('actor_id', 'rkey', 'rev', 'cid', 'first_cid', 'indexed_at', 'sort_at', 'extra')
          GROUP BY 1
        ) AS p
        LEFT JOIN skua.record_fields AS f ON f.table_name = item.name AND f.column_name = p.stem
      ) AS s
      WHERE s.field IS NOT NULL);
    EXECUTE format($f$
      CREATE OR REPLACE FUNCTION bsky.record_json(t bsky.%I) RETURNS jsonb
      LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $b$
      DECLARE
        result jsonb;
      BEGIN
        IF t.cid IS NULL THEN
          RETURN NULL;
        END IF;
        result := jsonb_build_object('$type', %L) || coalesce(
          (SELECT jsonb_object_agg(f.field, f.value) FROM (VALUES %s) AS f(field, value) WHERE f.value IS NOT NULL), '{}');
        IF t.extra IS NOT NULL THEN
          result := result || (t.extra - %L::text[]);
          IF t.extra ? '$type' THEN
            result := result - '$type';
          END IF;
        END IF;
        RETURN result;
      END
      $b$ $f$, item.name, item.nsid, fields, own_members);
    EXECUTE format('COMMENT ON FUNCTION bsky.record_json(bsky.%I) IS %L', item.name,
                   'The record of a row as JSON (' || item.nsid || ').');
  END LOOP;
  EXECUTE format($f$
    CREATE OR REPLACE FUNCTION bsky.record_json(actor_ids int8[], collection_ids int4[], rkeys int8[])
    RETURNS TABLE (place int8, cid bytea, record jsonb, block bytea)
    LANGUAGE sql STABLE PARALLEL SAFE AS $b$
      WITH keys AS MATERIALIZED (
        SELECT * FROM unnest(actor_ids, collection_ids, rkeys) WITH ORDINALITY AS k(actor_id, collection_id, rkey, place))
      SELECT k.place, t.cid, t.record, t.block FROM keys AS k JOIN bsky.records AS t
        ON t.actor_id = k.actor_id AND t.collection_id = k.collection_id AND t.rkey = k.rkey
      UNION ALL %s
    $b$ $f$, tables);
END
$$;
COMMENT ON FUNCTION skua.make_record_json() IS 'Makes the functions bsky.record_json again, after a change of skua.record_tables, skua.record_fields or the columns of a table.';

SELECT skua.make_record_json();
COMMENT ON FUNCTION bsky.record_json(int8[], int4[], int8[]) IS 'The current records of these keys as JSON, with the SHA-256 of each. The place of a key counts from 1; a key without a record has no row. A record that JSON in the database cannot hold exactly also has its block.';

CREATE OR REPLACE FUNCTION bsky.record_json(uri text) RETURNS jsonb
LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT r.record FROM bsky.resolve_uri(uri) AS u,
    bsky.record_json(ARRAY[u.actor_id], ARRAY[u.collection_id], ARRAY[u.rkey]) AS r
$$;
COMMENT ON FUNCTION bsky.record_json(text) IS 'The current record of an AT-URI or a bsky.app URL, as JSON.';
