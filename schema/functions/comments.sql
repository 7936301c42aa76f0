-- The tables and views of records share most of their columns. These functions write the comments of these columns. The files
-- of views/ call them.

CREATE OR REPLACE FUNCTION skua.comment_on_reference(records text, reference text, target text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  of_record boolean := EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = format('bsky.%I', records)::regclass AND attname = reference || '_rkey');
  place record;
BEGIN
  FOR place IN
    SELECT c.oid::regclass AS relation, a.attname AS name, c.relkind = 'v' AS is_view
    FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'bsky'::regnamespace AND c.relname IN (records, records || '_view')
      AND a.attname IN (SELECT reference || suffix FROM unnest(ARRAY['_actor', '_collection', '_rkey', '_cid', '_uri', '_did', '_handle', '_name']) AS suffix)
  LOOP
    EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', place.relation, place.name, CASE substr(place.name, length(reference) + 1)
      WHEN '_actor' THEN CASE WHEN of_record THEN 'The account of ' || target ELSE 'The number of ' || target END || ' (bsky.actors.id).'
      WHEN '_collection' THEN 'The collection of ' || target || ' (bsky.collections.id).'
      WHEN '_rkey' THEN 'The record key of ' || target || ', as a number.'
      WHEN '_cid' THEN CASE WHEN place.is_view THEN 'The CID' ELSE 'SHA-256' END || ' of the referenced version of ' || target || '.'
        || CASE WHEN NOT place.is_view AND reference IN ('subject', 'parent', 'root', 'quote')
             THEN ' Null if there is no reference, or for the first version of a post (bsky.posts.first_cid). The view has the CID.' ELSE '' END
      WHEN '_uri' THEN 'The AT-URI of ' || target || '; null if there is none. A condition on it reads all rows: compare the key. A reference that does not contain a DID is in extra.'
      WHEN '_did' THEN 'The DID of ' || target || '.'
      WHEN '_handle' THEN 'The handle of ' || target || '; null if it is not known.'
      WHEN '_name' THEN 'The handle of ' || target || ', or its DID if it has no handle.'
    END);
  END LOOP;
END
$$;
COMMENT ON FUNCTION skua.comment_on_reference(text, text, text) IS 'Writes the comments of the columns of a reference, in a table of records and in its view. The target is a noun phrase, such as: the liked record.';

CREATE OR REPLACE FUNCTION skua.comment_on_records(records text, nsid text, content text, note text DEFAULT '') RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  stored regclass := format('bsky.%I', records);
  shown regclass := format('bsky.%I', records || '_view');
  name text;
  text_in_table text;
  text_in_view text;
BEGIN
  EXECUTE format('COMMENT ON TABLE %s IS %L', stored, content || ': the records of ' || nsid || '.' || note);
  EXECUTE format('COMMENT ON VIEW %s IS %L', shown, content || '. Records of inactive accounts are hidden. Compare keys and not URIs: bsky.resolve_uri returns the key of a URI.');
  FOR name, text_in_table, text_in_view IN VALUES
    ('uri', NULL, 'The AT-URI of the record. A condition on it reads all rows: compare the key, which bsky.resolve_uri returns.'),
    ('did', NULL, 'The DID of the author.'),
    ('handle', NULL, 'The handle of the author; null if it is not known.'),
    -- Some records have a name of their own.
    (CASE WHEN EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = stored AND a.attname = 'name') THEN 'author_name' ELSE 'name' END,
     NULL, 'The handle of the author, or its DID if it has no handle.'),
    ('actor_id', 'The account whose repository contains the record (bsky.actors.id).',
                 'The account number of the author. The key of the table is actor_id and rkey.'),
    ('rkey', 'The record key, as a number (bsky.rkey_text returns its text).',
             'The record key, as a number. The key of the table is actor_id and rkey.'),
    ('rev', 'The newest known revision of the repository that contains the row (bsky.tid_text returns its text).',
            'The newest known revision of the repository that contains the row, as text.'),
    ('cid', 'SHA-256 of the block of the record (bsky.cid_text returns the CID).', 'The CID of this version of the record.'),
    ('created_at', 'The creation time that the record states. It can be any time. Times before 0001-01-02 and after 9999-12-30 are stored as these, with the text in extra. Null if the record states none.', NULL),
    ('indexed_at', 'The time at which this version of the record was indexed.', NULL),
    ('extra', 'The fields of the record that have no column, or whose column does not have their exact value, as JSON; null if there are none. Keys that begin with $ are not fields: $avatar and $banner have the MIME type and size of a blob, $type is null if the record has none, and $cbor is the block of a record that JSON cannot hold.', NULL),
    ('rkey_text', NULL, 'The record key as text. Use it in JavaScript, whose numbers are exact up to 2^53 only.'),
    ('url', NULL, 'The URL of the record on bsky.app.'),
    ('has_doubtful_time', NULL, 'True if created_at differs by more than a day from the time in the record key. Null if the key is not a timestamp or created_at is null.')
  LOOP
    IF text_in_table IS NOT NULL THEN
      EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', stored, name, text_in_table);
    END IF;
    IF text_in_view IS NOT NULL AND EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = shown AND a.attname = name) THEN
      EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', shown, name, text_in_view);
    END IF;
  END LOOP;
  -- The other columns of the view get the comment of the table.
  FOR name, text_in_table IN
    SELECT s.attname, col_description(stored, s.attnum)
    FROM pg_attribute AS s JOIN pg_attribute AS v ON v.attrelid = shown AND v.attname = s.attname AND v.attnum > 0
    WHERE s.attrelid = stored AND s.attnum > 0 AND s.attname NOT IN ('handle', 'actor_id', 'rkey', 'rev', 'cid')
      AND col_description(stored, s.attnum) IS NOT NULL AND NOT EXISTS (
        -- skua.comment_on_reference writes the comments of these columns.
        SELECT FROM pg_attribute AS r WHERE r.attrelid = stored AND s.attname ~ '_(actor|collection|rkey|cid)$'
          AND r.attname = regexp_replace(s.attname, '_[a-z]+$', '_actor'))
  LOOP
    EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', shown, name, text_in_table);
  END LOOP;
END
$$;
COMMENT ON FUNCTION skua.comment_on_records(text, text, text, text) IS 'Writes the comments of a table of records and of its view, and of the columns that all of them have. The view gets the comments of the other columns from the table. The content is a noun phrase; the note is added to the comment of the table.';
