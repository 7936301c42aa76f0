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
SELECT coalesce(max(id), 0) FROM bsky.actors;

-- name: account_counts_sample
-- Account numbers are dense, because failed inserts do not use numbers. An id that is drawn twice is looked up once.
WITH drawn AS MATERIALIZED (
  SELECT DISTINCT CASE WHEN $1::int8 <= $2::int4 THEN n ELSE 1 + floor(random() * $1::int8)::int8 END AS id
  FROM generate_series(1, least($1::int8, $2::int4)) AS n
)
SELECT d.id, a.id IS NOT NULL, a.active IS NOT FALSE, coalesce(a.status, 'inactive'),
  EXISTS (SELECT 1 FROM skua.repositories AS r WHERE r.did = a.did)
FROM drawn AS d
LEFT JOIN bsky.actors AS a ON a.id = d.id
ORDER BY d.id;
