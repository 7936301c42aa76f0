-- Reads the identity of the database and of the server. The columns are the fields of ServerIdentity. If the role may not read
-- one of the values, the program tries the next statement, which reads fewer values.

-- fragment: session_database
SELECT pg_backend_pid(), pg_is_in_recovery(), (SELECT oid FROM pg_database WHERE datname = current_database()),
  EXISTS (
    SELECT 1
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = 'skua' AND c.relname = 'database_token'
  )

-- fragment: session_wal
-- These columns are the timeline, and positions in bytes from the beginning of the WAL. A standby has neither.
CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END,
  CASE WHEN NOT pg_is_in_recovery() THEN (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::int8 END,
  CASE WHEN NOT pg_is_in_recovery() THEN (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::int8 END

-- name: session_identity
{{session_database}},
  {{session_wal}},
  (SELECT system_identifier::text FROM pg_control_system());

-- name: session_identity_of_role
{{session_database}},
  {{session_wal}},
  NULL::text;

-- name: session_identity_without_wal
{{session_database}},
  NULL::text, NULL::int8, NULL::int8, NULL::text;

-- name: session_token
-- Versions before the migration 0089 have no groups_version.
SELECT token, (to_jsonb(t) ->> 'groups_version')::int8 FROM skua.database_token AS t;
