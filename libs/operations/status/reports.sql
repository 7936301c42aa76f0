-- name: repository_info_account
SELECT a.id, a.handle, a.active, a.status, bsky.tid_text(nullif(a.floor_rev, 0)), r.state,
  bsky.tid_text(r.rev), bsky.tid_text(r.anchor), r.active, r.breaks, r.broke_at, r.next_attempt, r.attempts, r.error
FROM (SELECT $1::text AS did) AS d
LEFT JOIN bsky.actors AS a ON a.did = d.did
LEFT JOIN skua.repositories AS r ON r.did = d.did;

-- name: repository_info_rows
SELECT collection, count(*)
FROM bsky.all_records
WHERE did = $1
GROUP BY 1
ORDER BY 2 DESC, 1;

-- name: status_tables
-- The statement returns the tables of bsky and of projections, and the partitions of the change log. A standby does not count
-- rows. It has the number of the last ANALYZE of its primary.
SELECT CASE t.schemaname WHEN 'bsky' THEN '' ELSE 'skua.' END || t.relname, e.rows, pg_total_relation_size(t.relid)
FROM pg_stat_user_tables AS t
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN pg_is_in_recovery() THEN (SELECT greatest(c.reltuples, 0)::int8 FROM pg_class AS c WHERE c.oid = t.relid)
    ELSE t.n_live_tup
  END AS rows
) AS e
WHERE t.schemaname = 'bsky' OR (t.schemaname = 'skua' AND t.relname ~ '_[0-9]+$' AND e.rows > 0)
ORDER BY 3 DESC, 1;
