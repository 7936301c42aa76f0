-- The role of `skua run`, `skua backfill` and `skua serve`: it reads and writes rows, and cannot change the schema.

-- Partitions of the change log belong to the owner of the schema, also if a writer needs the next one.
ALTER FUNCTION skua.make_change_log_partition(int8) SECURITY DEFINER SET search_path = pg_catalog;
REVOKE EXECUTE ON FUNCTION skua.make_change_log_partition(int8) FROM PUBLIC;

CREATE FUNCTION skua.drop_change_log_partition(number int8) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  EXECUTE format('DROP TABLE IF EXISTS skua.%I', 'change_log_' || number);
END
$$;
COMMENT ON FUNCTION skua.drop_change_log_partition(int8) IS 'Drops a partition of the change log if it exists.';
REVOKE EXECUTE ON FUNCTION skua.drop_change_log_partition(int8) FROM PUBLIC;

CREATE FUNCTION skua.grant_writer() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  GRANT USAGE ON SCHEMA bsky, skua, lexicon TO skua_writer;
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA bsky, skua TO skua_writer;
  GRANT SELECT ON ALL TABLES IN SCHEMA lexicon TO skua_writer;
  GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA bsky, skua TO skua_writer;
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA bsky, skua TO skua_writer;
  -- What changes the schema or the rights.
  REVOKE INSERT, UPDATE, DELETE ON skua.migrations, skua.reader_tables FROM skua_writer;
  REVOKE EXECUTE ON FUNCTION skua.grant_reader(), skua.grant_writer(), skua.make_lexicon_view(text, text, jsonb) FROM skua_writer;
  -- The tables of projections and of later versions.
  ALTER DEFAULT PRIVILEGES IN SCHEMA bsky, skua GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO skua_writer;
  ALTER DEFAULT PRIVILEGES IN SCHEMA lexicon GRANT SELECT ON TABLES TO skua_writer;
  ALTER DEFAULT PRIVILEGES IN SCHEMA bsky, skua GRANT USAGE, SELECT, UPDATE ON SEQUENCES TO skua_writer;
  ALTER DEFAULT PRIVILEGES IN SCHEMA bsky, skua GRANT EXECUTE ON FUNCTIONS TO skua_writer;
END
$$;
COMMENT ON FUNCTION skua.grant_writer() IS 'Lets the role skua_writer read and write rows. Run it again after you create the role yourself.';
REVOKE EXECUTE ON FUNCTION skua.grant_writer() FROM PUBLIC;

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'skua_writer') THEN
    CREATE ROLE skua_writer NOLOGIN;
  END IF;
  PERFORM skua.grant_writer();
EXCEPTION
  -- Roles belong to the whole server: the migration of another database may have created it at this moment.
  WHEN duplicate_object OR unique_violation THEN
    PERFORM skua.grant_writer();
  WHEN insufficient_privilege THEN
    RAISE WARNING 'The role skua_writer was not created, because % may not create roles. Everything works without it: run Skua as the owner of the tables. To run Skua with fewer rights, a superuser runs CREATE ROLE skua_writer NOLOGIN; then run SELECT skua.grant_writer(); here.', current_user;
END
$$;
