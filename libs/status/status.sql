-- name: status_tables
-- The tables of bsky, of projections, and the partitions of the change log.
SELECT CASE schemaname WHEN 'bsky' THEN '' ELSE 'skua.' END || relname, n_live_tup, pg_total_relation_size(relid)
FROM pg_stat_user_tables
WHERE schemaname = 'bsky' OR (schemaname = 'skua' AND relname ~ '_[0-9]+$' AND n_live_tup > 0)
ORDER BY 3 DESC, 1;
