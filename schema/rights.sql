-- All rights. `skua migrate` applies this file after every change of the schema. The role that owns the schema needs no
-- rights. skua_reader is for people who query. skua_writer is for `skua run`, `skua backfill` and `skua serve`: it reads and
-- writes rows, and cannot change the schema. The statements of projections that users add run as skua_projection (ADR 14).
-- skua_producer is for programs that enqueue own messages.
-- PUBLIC may execute the functions whose file does not revoke it.

-- The tables of the schema skua that the reader may read. `skua status`, `skua doctor` and other commands need them.
DELETE FROM skua.reader_tables;
INSERT INTO skua.reader_tables VALUES
  ('migrations'), ('schema_files'), ('database_token'), ('cursors'), ('metrics'), ('repositories'), ('purges'),
  ('backfill_jobs'), ('backfill_hosts'), ('dropped_indexes'), ('filter'), ('filter_state'), ('excluded_accounts'),
  ('retention'), ('change_log'), ('change_log_state'), ('consumers'), ('consumer_lanes'), ('waiting_changes'),
  ('dead_letter_errors'), ('lexicons'), ('lexicon_state'), ('lexicon_checks'), ('plc_cursor'), ('projections'), ('trusted_accounts'),
  ('message_inbox'), ('messages'), ('message_limits'), ('identities'), ('account_groups'),
  ('waiting_references'), ('mentioned_accounts'), ('group_moves'), ('group_cursors');

CREATE OR REPLACE FUNCTION skua.grant_reader() RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  table_name text;
BEGIN
  GRANT USAGE ON SCHEMA bsky, skua, lexicon, projections TO skua_reader;
  GRANT SELECT ON ALL TABLES IN SCHEMA bsky, lexicon, projections TO skua_reader;
  GRANT SELECT ON SEQUENCE bsky.actors_id_seq TO skua_reader;
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA bsky TO skua_reader;
  GRANT EXECUTE ON FUNCTION skua.refresh_collections(), skua.node_states() TO skua_reader;
  ALTER DEFAULT PRIVILEGES IN SCHEMA bsky, projections GRANT SELECT ON TABLES TO skua_reader;
  FOR table_name IN SELECT r.name FROM skua.reader_tables AS r LOOP
    EXECUTE format('GRANT SELECT ON skua.%I TO skua_reader', table_name);
  END LOOP;
  -- The payload contains bytes that could not become rows.
  GRANT SELECT (error, last_at, consumer, status, pos) ON skua.dead_letter TO skua_reader;
END
$$;
COMMENT ON FUNCTION skua.grant_reader() IS 'Grants the role skua_reader its privileges. Run it again after creating the role.';
REVOKE EXECUTE ON FUNCTION skua.grant_reader() FROM PUBLIC;

CREATE OR REPLACE FUNCTION skua.grant_writer() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  GRANT USAGE ON SCHEMA bsky, skua, lexicon, projections TO skua_writer;
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA bsky, skua TO skua_writer;
  GRANT SELECT ON ALL TABLES IN SCHEMA lexicon, projections TO skua_writer;
  GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA bsky, skua TO skua_writer;
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA bsky, skua TO skua_writer;
  -- These tables and functions change the schema or the rights.
  REVOKE INSERT, UPDATE, DELETE ON skua.migrations, skua.schema_files, skua.reader_tables, skua.projections FROM skua_writer;
  REVOKE EXECUTE ON FUNCTION skua.grant_reader(), skua.grant_writer(), skua.grant_projection(), skua.grant_producer(),
    skua.make_lexicon_view(text, text, jsonb) FROM skua_writer;
  -- The tables of projections are created later.
  ALTER DEFAULT PRIVILEGES IN SCHEMA bsky, skua GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO skua_writer;
  ALTER DEFAULT PRIVILEGES IN SCHEMA lexicon, projections GRANT SELECT ON TABLES TO skua_writer;
  ALTER DEFAULT PRIVILEGES IN SCHEMA bsky, skua GRANT USAGE, SELECT, UPDATE ON SEQUENCES TO skua_writer;
  ALTER DEFAULT PRIVILEGES IN SCHEMA bsky, skua GRANT EXECUTE ON FUNCTIONS TO skua_writer;
END
$$;
COMMENT ON FUNCTION skua.grant_writer() IS 'Lets the role skua_writer read and write rows. Run it again after you create the role yourself.';
REVOKE EXECUTE ON FUNCTION skua.grant_writer() FROM PUBLIC;

-- The role owns the functions that contain the statements of users. It reads records and the change log, and writes only the
-- tables that each build grants to it. The owner of the schema is a member, so that it can give the functions to the role.
CREATE OR REPLACE FUNCTION skua.grant_projection() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF NOT skua.may_act_as_projection() THEN
    BEGIN
      EXECUTE format('GRANT skua_projection TO %I', current_user);
    EXCEPTION WHEN insufficient_privilege THEN
      RAISE WARNING 'Projections of users do not work yet, because % is not a member of skua_projection. A superuser runs GRANT skua_projection TO %; everything else works without it.',
        current_user, current_user;
    END;
  END IF;
  GRANT USAGE ON SCHEMA bsky, lexicon, skua TO skua_projection;
  GRANT USAGE, CREATE ON SCHEMA projections TO skua_projection;
  GRANT SELECT ON ALL TABLES IN SCHEMA bsky, lexicon TO skua_projection;
  GRANT SELECT ON skua.change_log TO skua_projection;
  ALTER DEFAULT PRIVILEGES IN SCHEMA bsky, lexicon GRANT SELECT ON TABLES TO skua_projection;
END
$$;
COMMENT ON FUNCTION skua.grant_projection() IS 'Grants the role skua_projection its privileges. Run it again after you create the role yourself.';
REVOKE EXECUTE ON FUNCTION skua.grant_projection() FROM PUBLIC;

CREATE OR REPLACE FUNCTION skua.grant_producer() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  GRANT USAGE ON SCHEMA skua TO skua_producer;
  GRANT EXECUTE ON FUNCTION skua.enqueue(text, text, jsonb, jsonb) TO skua_producer;
END
$$;
COMMENT ON FUNCTION skua.grant_producer() IS 'Lets the role skua_producer call skua.enqueue. Run it again after you create the role yourself.';
REVOKE EXECUTE ON FUNCTION skua.grant_producer() FROM PUBLIC;

DO $$
DECLARE
  role record;
BEGIN
  FOR role IN
    SELECT * FROM (VALUES
      ('skua_reader', 'Indexing works without it. For people who query'),
      ('skua_writer', 'Everything works without it: run Skua as the owner of the tables. To run Skua with fewer rights'),
      ('skua_projection', 'Everything works without it, except projections that users add. For these'),
      ('skua_producer', 'Everything else works without it. For programs that call skua.enqueue')
    ) AS r(name, note)
  LOOP
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = role.name) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', role.name);
      END IF;
    EXCEPTION
      -- Roles belong to the whole server: the migration of another database may have created it at this moment.
      WHEN duplicate_object OR unique_violation THEN NULL;
      WHEN insufficient_privilege THEN
        RAISE WARNING 'The role % was not created, because % may not create roles. %, a superuser runs CREATE ROLE % NOLOGIN; then run SELECT skua.grant_%() here.',
          role.name, current_user, role.note, role.name, substring(role.name FROM 'skua_(.*)');
        CONTINUE;
    END;
    EXECUTE format('SELECT skua.grant_%s()', substring(role.name FROM 'skua_(.*)'));
  END LOOP;
END
$$;
