-- name: projection_lock_live
SELECT c.id
FROM skua.consumers AS c
JOIN skua.consumer_lanes AS l ON l.consumer_id = c.id
WHERE c.name = $1::text AND c.role = 'live'
ORDER BY l.lane
FOR UPDATE OF l;

-- name: projection_dependents
-- One statement drops all views, because one view may read another.
WITH RECURSIVE readers AS (
  SELECT to_regclass(t.name)::oid AS oid, NULL::"char" AS kind
  FROM unnest($1::text[]) AS t(name)
  UNION
  SELECT v.oid, v.relkind
  FROM readers AS t
  JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = t.oid AND d.classid = 'pg_rewrite'::regclass
  JOIN pg_rewrite AS r ON r.oid = d.objid
  JOIN pg_class AS v ON v.oid = r.ev_class
),
dropped AS (
  SELECT r.kind, string_agg(format('%I.%I', n.nspname, c.relname), ', ' ORDER BY n.nspname, c.relname) AS names
  FROM readers AS r
  JOIN pg_class AS c ON c.oid = r.oid
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE r.kind IN ('v', 'm')
  GROUP BY r.kind
)
SELECT coalesce(
  string_agg(CASE d.kind WHEN 'm' THEN 'drop materialized view ' ELSE 'drop view ' END || d.names, '; ' ORDER BY d.kind), '')
FROM dropped AS d;

-- name: projection_has_view
SELECT to_regclass('bsky.' || $1::text) IS NOT NULL;
