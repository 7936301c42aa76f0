-- name: doctor_role
WITH tables AS (
  SELECT format('%I.%I', n.nspname, c.relname) AS name,
    has_table_privilege(c.oid, 'SELECT')
      AND (
        n.nspname = 'skua' AND c.relname IN ('migrations', 'schema_files', 'reader_tables', 'projections')
        OR has_table_privilege(c.oid, 'INSERT')
          AND has_table_privilege(c.oid, 'UPDATE')
          AND has_table_privilege(c.oid, 'DELETE')
      ) AS is_writable
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE n.nspname IN ('bsky', 'skua') AND c.relkind IN ('r', 'p') AND NOT pg_has_role(c.relowner, 'USAGE')
),
groups AS (SELECT rolname, pg_has_role(oid, 'USAGE') AS is_member FROM pg_roles)
SELECT current_user,
  coalesce((SELECT is_member FROM groups WHERE rolname = 'skua_reader'), false),
  coalesce((SELECT is_member FROM groups WHERE rolname = 'skua_writer'), false),
  count(*), coalesce(min(name), ''),
  count(*) FILTER (WHERE NOT is_writable), coalesce(min(name) FILTER (WHERE NOT is_writable), '')
FROM tables;

-- name: doctor_may_read_reader_tables
SELECT has_table_privilege('skua.reader_tables', 'SELECT');

-- name: doctor_reader_role
WITH reader AS (SELECT oid FROM pg_roles WHERE rolname = 'skua_reader'),
lacking AS (
  SELECT format('%I.%I', n.nspname, c.relname) AS name
  FROM reader AS r
  CROSS JOIN pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v')
    AND (n.nspname = 'bsky' OR n.nspname = 'skua' AND c.relname IN (SELECT name FROM skua.reader_tables))
    AND NOT (has_schema_privilege(r.oid, n.oid, 'USAGE') AND has_table_privilege(r.oid, c.oid, 'SELECT'))
)
SELECT EXISTS (SELECT 1 FROM reader), count(*), coalesce(min(name), '') FROM lacking;
