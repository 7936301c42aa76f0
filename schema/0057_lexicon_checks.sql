-- The checks of records by added lexicons, and of stored records after lexicons have changed.

CREATE TABLE skua.lexicon_state (
  is_only    boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  version    int8 NOT NULL DEFAULT 0,
  changed_at timestamptz NOT NULL DEFAULT '-infinity'
);
COMMENT ON TABLE skua.lexicon_state IS 'One row: the version of the documents in skua.lexicons. Processes read the documents again when it changes.';
COMMENT ON COLUMN skua.lexicon_state.is_only IS 'Always true, so that there is one row.';
COMMENT ON COLUMN skua.lexicon_state.version IS 'Increases with every statement that changes skua.lexicons.';
COMMENT ON COLUMN skua.lexicon_state.changed_at IS 'The time of the last change.';
INSERT INTO skua.lexicon_state DEFAULT VALUES;

CREATE FUNCTION skua.lexicons_changed() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE skua.lexicon_state SET version = version + 1, changed_at = clock_timestamp();
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION skua.lexicons_changed() IS 'Trigger of skua.lexicons: raises the version.';
CREATE TRIGGER lexicons_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON skua.lexicons
FOR EACH STATEMENT EXECUTE FUNCTION skua.lexicons_changed();

CREATE TABLE skua.lexicon_checks (
  table_name text COLLATE "C" PRIMARY KEY,
  lexicons   text NOT NULL,
  next_row   tid,
  end_block  int8 NOT NULL CHECK (end_block >= 0),
  file_node  oid NOT NULL,
  pass_at    timestamptz NOT NULL,
  changed    int8 NOT NULL DEFAULT 0
);
COMMENT ON TABLE skua.lexicon_checks IS 'The check of the stored rows of each table with records. A pass begins when the lexicons differ from those of the last pass.';
COMMENT ON COLUMN skua.lexicon_checks.table_name IS 'The table, such as bsky.posts.';
COMMENT ON COLUMN skua.lexicon_checks.lexicons IS 'The lexicons by which the present or the last pass checks: a hash of the built-in ones, and for bsky.records the version of the added ones.';
COMMENT ON COLUMN skua.lexicon_checks.next_row IS 'The place in the table at which the present pass continues. Null: no pass is under way.';
COMMENT ON COLUMN skua.lexicon_checks.end_block IS 'The size of the table in blocks at the beginning of the pass, which is the end of the pass. Rows that are written during the pass were checked when they were written.';
COMMENT ON COLUMN skua.lexicon_checks.file_node IS 'The file of the table at the beginning of the pass. A pass begins again if the table was rewritten, for example by VACUUM FULL, because rows then have other places.';
COMMENT ON COLUMN skua.lexicon_checks.pass_at IS 'The beginning of the present or the last pass.';
COMMENT ON COLUMN skua.lexicon_checks.changed IS 'The number of rows that this pass changed so far.';
INSERT INTO skua.reader_tables VALUES ('lexicon_state'), ('lexicon_checks');
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'skua_reader') THEN
    PERFORM skua.grant_reader();
  END IF;
END
$$;

COMMENT ON COLUMN bsky.records.invalid_reason IS 'The reason why the record violates its lexicon, which is built in or was added with `skua lexicon add`. Null: it is valid, or its collection has no lexicon.';
COMMENT ON COLUMN bsky.records_view.invalid_reason IS 'The reason why the record violates its lexicon, which is built in or was added with `skua lexicon add`. Null: it is valid, or its collection has no lexicon.';
