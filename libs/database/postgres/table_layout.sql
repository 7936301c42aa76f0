-- name: table_layout_odd
SELECT c.oid::regclass::text, CASE
    WHEN c.relkind = 'p' THEN 'partitioned'
    WHEN c.relkind = 'f' THEN 'a foreign table'
    WHEN h.is_parent THEN 'the parent of other tables'
    ELSE 'a part of another table'
  END
FROM pg_class AS c
CROSS JOIN LATERAL (
  SELECT EXISTS (SELECT FROM pg_inherits AS i WHERE i.inhparent = c.oid) AS is_parent,
    EXISTS (SELECT FROM pg_inherits AS i WHERE i.inhrelid = c.oid) AS is_child
) AS h
WHERE c.relnamespace = 'bsky'::regnamespace AND c.relkind IN ('r', 'p', 'f')
  AND (c.relkind <> 'r' OR h.is_parent OR h.is_child)
ORDER BY 1;

-- name: table_layout_has_citus
SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL;
