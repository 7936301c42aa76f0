-- The role for people who query also sees how many account numbers are used: `skua status` says so.

CREATE OR REPLACE FUNCTION skua.grant_reader() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  GRANT USAGE ON SCHEMA bsky, skua TO skua_reader;
  GRANT SELECT ON ALL TABLES IN SCHEMA bsky TO skua_reader;
  GRANT SELECT ON SEQUENCE bsky.actors_id_seq TO skua_reader;
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA bsky TO skua_reader;
  ALTER DEFAULT PRIVILEGES IN SCHEMA bsky GRANT SELECT ON TABLES TO skua_reader;
  GRANT SELECT ON skua.migrations, skua.cursors, skua.figures, skua.repositories, skua.backfill_jobs,
    skua.backfill_hosts, skua.dropped_indexes, skua.filter, skua.filter_state TO skua_reader;
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
