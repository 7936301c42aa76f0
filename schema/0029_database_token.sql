-- What tells this database from another one at the same address, beside what the server says of itself.

CREATE TABLE skua.database_token (
  only_row boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
  token    uuid    NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO skua.database_token DEFAULT VALUES;
COMMENT ON TABLE skua.database_token IS 'What tells this database from another. A process that finds another token when it connects again drops what it remembers and begins at the stored cursor.';
COMMENT ON COLUMN skua.database_token.only_row IS 'Sees to it that there is one row.';
COMMENT ON COLUMN skua.database_token.token IS 'Drawn once.';

CREATE OR REPLACE FUNCTION skua.grant_reader() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  GRANT USAGE ON SCHEMA bsky, skua TO skua_reader;
  GRANT SELECT ON ALL TABLES IN SCHEMA bsky TO skua_reader;
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA bsky TO skua_reader;
  ALTER DEFAULT PRIVILEGES IN SCHEMA bsky GRANT SELECT ON TABLES TO skua_reader;
  GRANT SELECT ON skua.migrations, skua.cursors, skua.figures, skua.repositories, skua.backfill_jobs,
    skua.backfill_hosts, skua.dropped_indexes, skua.filter, skua.filter_state, skua.database_token TO skua_reader;
  -- Not the payload: the bytes of input that could not become rows.
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
