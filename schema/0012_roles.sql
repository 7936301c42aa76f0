-- The role for people who query: it reads everything that is meant for people, and changes nothing.

CREATE FUNCTION skua.grant_reader() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  GRANT USAGE ON SCHEMA bsky, skua TO skua_reader;
  GRANT SELECT ON ALL TABLES IN SCHEMA bsky TO skua_reader;
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA bsky TO skua_reader;
  ALTER DEFAULT PRIVILEGES IN SCHEMA bsky GRANT SELECT ON TABLES TO skua_reader;
  GRANT SELECT ON skua.migrations, skua.cursors, skua.figures TO skua_reader;
END
$$;
COMMENT ON FUNCTION skua.grant_reader() IS 'Lets the role skua_reader read. Run it again after making the role by hand.';
REVOKE EXECUTE ON FUNCTION skua.grant_reader() FROM PUBLIC;

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'skua_reader') THEN
    CREATE ROLE skua_reader NOLOGIN;
  END IF;
  PERFORM skua.grant_reader();
EXCEPTION
  -- Roles belong to the whole server: another database's migration may have made it this moment.
  WHEN duplicate_object OR unique_violation THEN
    PERFORM skua.grant_reader();
  WHEN insufficient_privilege THEN
    RAISE WARNING 'The role skua_reader was not made: % may not create roles. Indexing works without it. For people who query, a superuser runs CREATE ROLE skua_reader NOLOGIN; then run SELECT skua.grant_reader(); here.', current_user;
END
$$;
