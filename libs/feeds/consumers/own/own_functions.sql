-- name: own_collections
-- Returns each collection with its number and its table; null if there is none.
SELECT n.nsid, c.id, t.name
FROM unnest($1::text[]) WITH ORDINALITY AS n(nsid, place)
LEFT JOIN bsky.collections AS c ON c.nsid = n.nsid
LEFT JOIN skua.record_tables AS t ON t.collection_id = c.id
ORDER BY n.place;

-- name: own_require_role
SELECT skua.require_projection_role();

-- name: own_number
SELECT nextval(pg_get_serial_sequence('skua.consumers', 'id'))::int4;

-- name: own_faults
-- Returns the reasons to refuse the statement of the function projections.$1, whose body PostgreSQL has parsed. The parsed body
-- names each function, also those of operators, casts and aggregates. From PostgreSQL 16 on a subquery has a relid, too, which is
-- 0. $2: random() is allowed. $3: the views of built-in projections. A projection must not read rows of a projection, also not
-- through views of others: ADR 14.
WITH RECURSIVE body AS (
  SELECT p.prosqlbody::text AS tree
  FROM pg_proc AS p
  WHERE p.pronamespace = 'projections'::regnamespace AND p.proname = $1::text
),
read AS (
  SELECT DISTINCT (m.found)[1]::oid AS id
  FROM body AS b
  CROSS JOIN LATERAL regexp_matches(b.tree, ':relid ([1-9][0-9]*)', 'g') AS m(found)
),
through AS (
  SELECT r.id AS origin, r.id
  FROM read AS r
  UNION
  SELECT t.origin, d.refobjid
  FROM through AS t
  JOIN pg_class AS v ON v.oid = t.id AND v.relnamespace <> 'projections'::regnamespace
  JOIN pg_rewrite AS w ON w.ev_class = t.id
  JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
  WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid <> t.id
),
called AS (
  SELECT DISTINCT (m.found)[1]::oid AS id
  FROM body AS b
  CROSS JOIN LATERAL regexp_matches(b.tree, ':(?:funcid|opfuncid|aggfnoid|winfnoid) ([0-9]+)', 'g') AS m(found)
)
SELECT CASE
    WHEN f.proname IN ('now', 'transaction_timestamp', 'statement_timestamp') AND n.nspname = 'pg_catalog'
      THEN format('it calls %s, whose result changes with the time', f.oid::regprocedure)
    WHEN f.provolatile = 'v'
      THEN format('it calls %s, which is volatile: its result changes, or it has an effect', f.oid::regprocedure)
    ELSE format('it calls %s, which is not a function of PostgreSQL or of the schema bsky', f.oid::regprocedure)
  END
FROM called AS c
JOIN pg_proc AS f ON f.oid = c.id
JOIN pg_namespace AS n ON n.oid = f.pronamespace
WHERE NOT ($2::boolean AND f.oid = 'pg_catalog.random()'::regprocedure)
  AND (
    f.provolatile = 'v'
    OR n.nspname = 'pg_catalog' AND f.proname IN ('now', 'transaction_timestamp', 'statement_timestamp')
    OR NOT (n.nspname IN ('pg_catalog', 'bsky')
      OR n.nspname = 'skua' AND f.proname IN ('changes_between', 'references_between', 'change_kind', 'reference_role')))
UNION ALL
SELECT format('it reads %s, which the role skua_projection may not read', r.id::regclass)
FROM read AS r
WHERE NOT has_table_privilege('skua_projection', r.id, 'SELECT')
UNION ALL
SELECT format('it reads %s%s, the rows of a projection: a projection follows from records only', c.oid::regclass,
  ' through the view ' || nullif(t.origin, c.oid)::regclass::text)
FROM through AS t
JOIN pg_class AS c ON c.oid = t.id
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'projections' AND 'check_' || substring(c.relname FROM '_([0-9]+)$') IS DISTINCT FROM $1::text
  OR n.nspname = 'bsky' AND c.relname = ANY ($3::text[])
UNION ALL
SELECT 'it has CURRENT_TIMESTAMP, CURRENT_USER or a similar value' FROM body WHERE tree ~ '\{SQLVALUEFUNCTION'
UNION ALL
SELECT 'it has TABLESAMPLE' FROM body WHERE tree ~ '\{TABLESAMPLECLAUSE'
LIMIT 3;

-- name: own_sum_faults
-- Returns the reasons why the SELECT in the function projections.$1 is not a sum over the rows of the table $2.
WITH body AS (
  SELECT p.prosqlbody::text AS tree
  FROM pg_proc AS p
  WHERE p.pronamespace = 'projections'::regnamespace AND p.proname = $1::text
)
SELECT format('it reads %s: a sum reads the rows of one table only', (m.found)[1]::oid::regclass)
FROM body AS b
CROSS JOIN LATERAL regexp_matches(b.tree, ':relid ([1-9][0-9]*)', 'g') AS m(found)
WHERE (m.found)[1]::oid <> $2::text::regclass
UNION ALL
SELECT format('it calls %s: a sum has count and sum', (m.found)[1]::oid::regprocedure)
FROM body AS b
CROSS JOIN LATERAL regexp_matches(b.tree, ':aggfnoid ([0-9]+)', 'g') AS m(found)
WHERE (m.found)[1]::oid NOT IN (
  SELECT p.oid FROM pg_proc AS p
  WHERE p.pronamespace = 'pg_catalog'::regnamespace
    AND (p.proname = 'count' OR p.proname = 'sum' AND p.proargtypes[0] IN (20, 21, 23, 1700)))
UNION ALL
SELECT 'it has DISTINCT' FROM body WHERE tree ~ ':(aggdistinct|distinctClause) \('
UNION ALL
SELECT 'it has HAVING' FROM body WHERE tree ~ ':havingQual \{'
UNION ALL
SELECT 'it has LIMIT or OFFSET' FROM body WHERE tree ~ ':limit(Count|Offset) \{'
UNION ALL
SELECT 'it has a window function' FROM body WHERE tree ~ ':hasWindowFuncs true'
LIMIT 3;

-- name: own_objects
-- Returns the functions and tables of a consumer, in the order in which they can be dropped.
SELECT o.kind || ' ' || o.name
FROM (
  SELECT 'FUNCTION' AS kind, p.oid::regprocedure::text AS name, p.proname AS plain
  FROM pg_proc AS p
  WHERE p.pronamespace = 'projections'::regnamespace
  UNION ALL
  SELECT 'TABLE', c.oid::regclass::text, c.relname
  FROM pg_class AS c
  WHERE c.relnamespace = 'projections'::regnamespace AND c.relkind = 'r'
) AS o
WHERE o.plain ~ ('_' || $1::int4 || '$')
ORDER BY o.kind, o.name;

-- name: own_search_path
SELECT current_setting('search_path');

-- name: own_set_search_path
-- Until the end of the transaction.
SELECT set_config('search_path', $1::text, true);

-- name: own_limit_statements
-- Limits the time of statements to $1 milliseconds until the end of the transaction, unless the present limit is shorter. Returns
-- the present limit.
SELECT f.former
FROM (
  SELECT current_setting('statement_timeout') AS former,
    extract(epoch FROM current_setting('statement_timeout')::interval) * 1000 AS ms
  OFFSET 0
) AS f
WHERE set_config('statement_timeout', least(nullif(f.ms, 0)::int8, $1::int8)::text, true) IS NOT NULL;

-- name: own_set_limit
SELECT set_config('statement_timeout', $1::text, true);

-- name: own_show
SELECT skua.show_own_projection($1::text, $2::int4, $3::text, $4::text);
