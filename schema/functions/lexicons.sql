-- The views of the records of added lexicons.

CREATE OR REPLACE FUNCTION skua.lexicon_expression(column_type text, key text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT format(CASE column_type
                  WHEN 'text' THEN 'bsky.text_value(record -> %L)'
                  WHEN 'int8' THEN 'bsky.integer_value(record -> %L)'
                  WHEN 'boolean' THEN 'bsky.boolean_value(record -> %L)'
                  WHEN 'timestamptz' THEN 'bsky.datetime_value(record -> %L)'
                  ELSE '(record -> %L)' END, key)
$$;
COMMENT ON FUNCTION skua.lexicon_expression(text, text) IS 'The SQL expression of the value of a property, for a view in the schema lexicon and for an index that supports it.';

CREATE OR REPLACE FUNCTION skua.make_lexicon_view(view_name text, collection text, columns jsonb) RETURNS void
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

CREATE OR REPLACE FUNCTION skua.lexicons_changed() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE skua.lexicon_state SET version = version + 1, changed_at = clock_timestamp();
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION skua.lexicons_changed() IS 'Trigger of skua.lexicons: raises the version.';
DROP TRIGGER IF EXISTS lexicons_changed ON skua.lexicons;
CREATE TRIGGER lexicons_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON skua.lexicons
  FOR EACH STATEMENT EXECUTE FUNCTION skua.lexicons_changed();
