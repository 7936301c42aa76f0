-- Turns a database of the former migrations 62 to 68 into one that the files of tables/ created. The former migrations changed
-- views and functions too, which have files of their own now; migration 67 changed nothing else.

CREATE TABLE skua.schema_files (
  applied_at timestamptz NOT NULL DEFAULT now(),
  name       text        NOT NULL PRIMARY KEY,
  checksum   text        NOT NULL,
  objects    text[]      NOT NULL
);
COMMENT ON TABLE skua.schema_files IS 'The files of views, functions and rights that were applied to this database. `skua migrate` applies a file again if it has changed or if one of its objects is missing.';
COMMENT ON COLUMN skua.schema_files.applied_at IS 'The time at which the file was last applied.';
COMMENT ON COLUMN skua.schema_files.name IS 'The name of the file, such as views/feed.sql.';
COMMENT ON COLUMN skua.schema_files.checksum IS 'SHA-256 of the file, in hex.';
COMMENT ON COLUMN skua.schema_files.objects IS 'The views and functions that the file created, such as view bsky.posts_view.';

-- Partitions of the change log kept the comments of the time at which they were created.
DO $$
DECLARE
  place record;
BEGIN
  FOR place IN
    SELECT i.inhrelid::regclass AS part, a.attname AS name, col_description(a.attrelid, a.attnum) AS comment
    FROM pg_inherits AS i JOIN pg_attribute AS a ON a.attrelid = i.inhparent AND a.attnum > 0
    WHERE i.inhparent = 'skua.change_log'::regclass
  LOOP
    EXECUTE format('COMMENT ON COLUMN %s.%I IS %L', place.part, place.name, place.comment);
  END LOOP;
END
$$;
