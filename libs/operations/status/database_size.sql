-- name: database_size
SELECT pg_database_size(current_database());

-- name: repository_counts_blocks
SELECT pg_relation_size('skua.repositories') / current_setting('block_size')::int8;

-- name: repository_counts_sample
-- $1 is the percentage of the table's blocks that are read.
SELECT state, count(*) FROM skua.repositories TABLESAMPLE SYSTEM ($1::float8) GROUP BY state;

-- name: repository_counts_waiting
-- A partial index contains exactly the rows of this subquery.
SELECT count(*), count(*) FILTER (WHERE error IS NOT NULL)
FROM (SELECT error FROM skua.repositories WHERE state = 'desynchronized' LIMIT $1::int8) AS waiting;

-- name: account_counts_newest
-- On a node, whose numbers are computed, a sample of the table's statistics replaces the newest number.
SELECT coalesce(skua.newest_drawn_number(), (SELECT greatest(c.reltuples, 0)::int8 FROM pg_class AS c WHERE c.oid = 'bsky.actors'::regclass));

-- name: account_counts_sample
-- $1 is the number of random accounts; null: all accounts. An account that is drawn twice is returned once.
WITH drawn AS MATERIALIZED (
  SELECT a.id FROM bsky.actors AS a WHERE $1::int4 IS NULL
  UNION
  SELECT next.id
  FROM (SELECT skua.random_account_number() AS first FROM generate_series(1, $1::int4) OFFSET 0) AS r
  CROSS JOIN LATERAL (SELECT a.id FROM bsky.actors AS a WHERE a.id >= r.first ORDER BY a.id LIMIT 1) AS next
)
SELECT a.id, a.active IS NOT FALSE, coalesce(a.status, 'inactive'),
  EXISTS (SELECT 1 FROM skua.repositories AS r WHERE r.did = a.did)
FROM drawn AS d
JOIN bsky.actors AS a ON a.id = d.id
ORDER BY a.id;
