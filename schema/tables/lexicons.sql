-- Lexicons that users add, and the checks of stored records by lexicons.

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

CREATE TABLE skua.lexicon_state (
  is_only    boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  version    int8 NOT NULL DEFAULT 0,
  changed_at timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO skua.lexicon_state DEFAULT VALUES;
COMMENT ON TABLE skua.lexicon_state IS 'One row: the version of the documents in skua.lexicons. Processes read the documents again when it changes.';
COMMENT ON COLUMN skua.lexicon_state.is_only IS 'Always true, so that there is one row.';
COMMENT ON COLUMN skua.lexicon_state.version IS 'Increases with every statement that changes skua.lexicons.';
COMMENT ON COLUMN skua.lexicon_state.changed_at IS 'The time of the last change.';

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
