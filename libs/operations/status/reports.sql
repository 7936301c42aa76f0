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
-- The statement returns the tables of bsky and of projections, and the partitions of the change log.
SELECT CASE schemaname WHEN 'bsky' THEN '' ELSE 'skua.' END || relname, n_live_tup, pg_total_relation_size(relid)
FROM pg_stat_user_tables
WHERE schemaname = 'bsky' OR (schemaname = 'skua' AND relname ~ '_[0-9]+$' AND n_live_tup > 0)
ORDER BY 3 DESC, 1;
