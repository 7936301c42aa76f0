-- The tables and views that can be exported, and their columns.

-- name: exports_relations
SELECT c.relname::text, c.relkind = 'v', coalesce(obj_description(c.oid, 'pg_class'), '')
FROM pg_class AS c
WHERE c.relnamespace = 'bsky'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND has_table_privilege(c.oid, 'SELECT')
ORDER BY 1;

-- name: exports_columns
-- The names of the types by their numbers.
SELECT t.oid::int8, format_type(t.oid, NULL) FROM pg_type AS t WHERE t.oid::int8 = ANY ($1::int8[]);

-- name: exports_primary_key
-- The first column of the primary key of a table of bsky, if it is an integer.
SELECT a.attname::text
FROM pg_index AS i
JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
WHERE i.indisprimary AND i.indrelid = to_regclass('bsky.' || quote_ident($1))
  AND a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype);

-- name: exports_token
SELECT token::text FROM skua.database_token;

-- name: exports_drawn
SELECT skua.newest_drawn_number();
