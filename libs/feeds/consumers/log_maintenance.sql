-- name: feed_log_end
SELECT e.position - 1, e.position >> 24, s.max_bytes
FROM skua.change_log_state AS s, LATERAL (SELECT skua.change_log_end() AS position) AS e;

-- name: feed_make_partition
SELECT skua.make_change_log_partition($1::int8);

-- name: feed_drop_partition
SELECT skua.drop_change_log_partition($1::int8);

-- name: feed_partitions
-- The size of a partition includes that of its messages.
SELECT p.number,
  coalesce(pg_total_relation_size(p.oid), 0) + coalesce(pg_total_relation_size(to_regclass('skua.messages_' || p.number)), 0)
FROM (
  SELECT c.oid, substring(c.relname FROM '^change_log_([0-9]+)$')::int8 AS number
  FROM pg_inherits AS i
  JOIN pg_class AS c ON c.oid = i.inhrelid
  WHERE i.inhparent = 'skua.change_log'::regclass
) AS p
WHERE p.number IS NOT NULL
ORDER BY p.number;
