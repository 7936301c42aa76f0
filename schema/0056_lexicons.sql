-- Lexicons that users add, and a view of the records of each.

CREATE SCHEMA lexicon;
COMMENT ON SCHEMA lexicon IS 'A view of the records of each collection whose lexicon was added with `skua lexicon add`.';

CREATE TABLE skua.lexicons (
  nsid      text COLLATE "C" PRIMARY KEY CHECK (octet_length(nsid) <= 317),
  document  jsonb NOT NULL CHECK (jsonb_typeof(document) = 'object'),
  view_name text COLLATE "C" UNIQUE CHECK (octet_length(view_name) <= 63),
  columns   jsonb CHECK (jsonb_typeof(columns) = 'array'),
  added_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK ((view_name IS NULL) = (columns IS NULL))
);
COMMENT ON TABLE skua.lexicons IS 'The lexicon documents that were added. `skua lexicon` reads and changes them.';
COMMENT ON COLUMN skua.lexicons.nsid IS 'The id of the document. It is the collection if the document defines a record.';
COMMENT ON COLUMN skua.lexicons.document IS 'The document.';
COMMENT ON COLUMN skua.lexicons.view_name IS 'The view of the records in the schema lexicon. Null if the document defines no record.';
COMMENT ON COLUMN skua.lexicons.columns IS 'The columns of the view that come from properties, as objects with name, key, type and comment. Null if the document defines no record.';
COMMENT ON COLUMN skua.lexicons.added_at IS 'The time at which the document was added or last changed.';
INSERT INTO skua.reader_tables VALUES ('lexicons');

-- The values of properties. Records may be stored without a check, and a condition of a query may be evaluated before the
-- conditions of a view. So none of these fails.
CREATE FUNCTION bsky.text_value(value jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN jsonb_typeof(value) = 'string' THEN value #>> '{}' END
$$;
COMMENT ON FUNCTION bsky.text_value(jsonb) IS 'The text of a JSON string. Null for any other value.';

CREATE FUNCTION bsky.integer_value(value jsonb) RETURNS int8
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN jsonb_typeof(value) = 'number' THEN
    CASE WHEN value::numeric BETWEEN -9223372036854775808 AND 9223372036854775807 AND value::numeric = trunc(value::numeric) THEN value::int8 END
  END
$$;
COMMENT ON FUNCTION bsky.integer_value(jsonb) IS 'The value of a JSON number that is a 64-bit integer. Null for any other value.';

CREATE FUNCTION bsky.boolean_value(value jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN jsonb_typeof(value) = 'boolean' THEN value::boolean END
$$;
COMMENT ON FUNCTION bsky.boolean_value(jsonb) IS 'The value of a JSON boolean. Null for any other value.';

-- Immutable, because a datetime has an offset: the result does not depend on a setting.
CREATE FUNCTION bsky.datetime_value(value jsonb) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  datetime CONSTANT text := bsky.text_value(value);
BEGIN
  IF datetime ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,20})?(Z|[+-]\d\d:\d\d)$' THEN
    RETURN datetime::timestamptz;
  END IF;
  RETURN NULL;
EXCEPTION
  WHEN data_exception THEN
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION bsky.datetime_value(jsonb) IS 'The time of a JSON string with a datetime of the AT Protocol. Null for any other value, and for a time that PostgreSQL cannot represent.';

CREATE FUNCTION skua.lexicon_expression(column_type text, key text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT format(CASE column_type
                  WHEN 'text' THEN 'bsky.text_value(record -> %L)'
                  WHEN 'int8' THEN 'bsky.integer_value(record -> %L)'
                  WHEN 'boolean' THEN 'bsky.boolean_value(record -> %L)'
                  WHEN 'timestamptz' THEN 'bsky.datetime_value(record -> %L)'
                  ELSE '(record -> %L)' END, key)
$$;
COMMENT ON FUNCTION skua.lexicon_expression(text, text) IS 'The SQL expression of the value of a property, for a view in the schema lexicon and for an index that supports it.';

CREATE FUNCTION skua.make_lexicon_view(view_name text, collection text, columns jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  number int4;
  properties text;
  name text;
  comment text;
BEGIN
  SELECT c.id INTO STRICT number FROM bsky.collections AS c WHERE c.nsid = collection;
  SELECT coalesce(string_agg(format('%s AS %I, ', skua.lexicon_expression(c.value ->> 'type', c.value ->> 'key'), c.value ->> 'name'), '' ORDER BY c.place), '')
  INTO properties FROM jsonb_array_elements(columns) WITH ORDINALITY AS c (value, place);
  EXECUTE format('DROP VIEW IF EXISTS lexicon.%I', view_name);
  EXECUTE format(
    'CREATE VIEW lexicon.%I AS SELECT %L || a.did || %L || bsky.rkey_text(t.actor_id, %s, t.rkey) AS uri, a.did, a.handle, '
    'coalesce(a.handle, a.did) AS name, bsky.rkey_text(t.actor_id, %4$s, t.rkey) AS rkey_text, %s'
    't.indexed_at, bsky.cid_text(t.cid) AS cid, bsky.tid_text(t.rev) AS rev, t.actor_id, t.rkey '
    'FROM bsky.records AS t JOIN bsky.actors AS a ON a.id = t.actor_id '
    'WHERE t.collection_id = %s AND t.invalid_reason IS NULL AND a.active IS NOT FALSE',
    view_name, 'at://', '/' || collection || '/', number, properties, number);
  EXECUTE format('COMMENT ON VIEW lexicon.%I IS %L', view_name,
                 format('The valid records of %s, of active accounts. `skua lexicon add` created it.', collection));
  FOR name, comment IN
    SELECT c ->> 'name', c ->> 'comment' FROM jsonb_array_elements(columns) AS c
    UNION ALL
    VALUES ('uri', 'The AT-URI of the record.'),
           ('did', 'The DID of the author.'),
           ('handle', 'The handle of the author; null if it is not known.'),
           ('name', 'The handle of the author, or its DID if it has no handle.'),
           ('rkey_text', 'The record key, as text.'),
           ('indexed_at', 'The time at which this version of the record was indexed.'),
           ('cid', 'The CID of this version of the record.'),
           ('rev', 'The newest known revision of the repository that contains the row, as text.'),
           ('actor_id', 'The account number of the author.'),
           ('rkey', 'The record key, as a number.')
  LOOP
    EXECUTE format('COMMENT ON COLUMN lexicon.%I.%I IS %L', view_name, name, comment);
  END LOOP;
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'skua_reader') THEN
    EXECUTE format('GRANT SELECT ON lexicon.%I TO skua_reader', view_name);
  END IF;
END
$$;
COMMENT ON FUNCTION skua.make_lexicon_view(text, text, jsonb) IS 'Creates or replaces the view of the records of a collection in the schema lexicon. The columns are those of skua.lexicons.columns.';
REVOKE EXECUTE ON FUNCTION skua.make_lexicon_view(text, text, jsonb) FROM PUBLIC;

-- With the schema lexicon.
CREATE OR REPLACE FUNCTION skua.grant_reader() RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  table_name text;
BEGIN
  GRANT USAGE ON SCHEMA bsky, skua, lexicon TO skua_reader;
  GRANT SELECT ON ALL TABLES IN SCHEMA bsky, lexicon TO skua_reader;
  GRANT SELECT ON SEQUENCE bsky.actors_id_seq TO skua_reader;
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA bsky TO skua_reader;
  ALTER DEFAULT PRIVILEGES IN SCHEMA bsky GRANT SELECT ON TABLES TO skua_reader;
  FOR table_name IN SELECT r.name FROM skua.reader_tables AS r LOOP
    EXECUTE format('GRANT SELECT ON skua.%I TO skua_reader', table_name);
  END LOOP;
  GRANT SELECT (error, last_at) ON skua.dead_letter TO skua_reader;
END
$$;
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'skua_reader') THEN
    PERFORM skua.grant_reader();
  END IF;
END
$$;
