-- The schemas, and the tables about the database itself.

CREATE SCHEMA bsky;
COMMENT ON SCHEMA bsky IS 'The content of the network: accounts, records, and views and functions to read them.';

CREATE SCHEMA skua;
COMMENT ON SCHEMA skua IS 'The state of the indexer: migrations, cursors, tombstones, jobs, dead letters, the change log.';

CREATE SCHEMA lexicon;
COMMENT ON SCHEMA lexicon IS 'A view of the records of each collection whose lexicon was added with `skua lexicon add`.';

CREATE TABLE skua.migrations (
  applied_at timestamptz NOT NULL DEFAULT now(),
  version    int4        NOT NULL PRIMARY KEY,
  name       text        NOT NULL,
  checksum   text        NOT NULL
);
COMMENT ON TABLE skua.migrations IS 'The migrations that were applied to this database.';
COMMENT ON COLUMN skua.migrations.applied_at IS 'The time at which the migration was applied.';
COMMENT ON COLUMN skua.migrations.version IS 'The number at the start of the file''s name.';
COMMENT ON COLUMN skua.migrations.name IS 'The name of the file, without its number and extension.';
COMMENT ON COLUMN skua.migrations.checksum IS 'SHA-256 of the file, in hex. A file must not change after it was applied.';

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

-- The rows are in rights.sql.
CREATE TABLE skua.reader_tables (
  name text NOT NULL PRIMARY KEY
);
COMMENT ON TABLE skua.reader_tables IS 'The tables of the schema skua that the role skua_reader may read. skua.grant_reader grants them.';
COMMENT ON COLUMN skua.reader_tables.name IS 'The table, without its schema.';

CREATE TABLE skua.database_token (
  only_row boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
  token    uuid    NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO skua.database_token DEFAULT VALUES;
COMMENT ON TABLE skua.database_token IS 'Identifies this database. A process that finds another token when it reconnects discards its state and continues at the stored cursor.';
COMMENT ON COLUMN skua.database_token.only_row IS 'Ensures that the table has one row.';
COMMENT ON COLUMN skua.database_token.token IS 'A random token, generated once.';

CREATE TABLE skua.lock_secret (
  only_row boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
  secret   bytea   NOT NULL CHECK (octet_length(secret) = 16)
);
INSERT INTO skua.lock_secret (secret)
VALUES (substring(sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')) FROM 1 FOR 16));
COMMENT ON TABLE skua.lock_secret IS 'The key of the hash for the lock numbers of accounts and handles. Readers must not see it: with it one can choose a handle whose lock collides with another lock.';
COMMENT ON COLUMN skua.lock_secret.only_row IS 'Ensures that the table has one row.';
COMMENT ON COLUMN skua.lock_secret.secret IS '16 random bytes, generated once.';
