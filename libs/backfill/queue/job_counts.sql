-- name: backfill_jobs_sample
-- $1: the percentage of the table's blocks. One pass counts both the states and the hosts.
SELECT state, host, count(*) FROM skua.backfill_jobs TABLESAMPLE SYSTEM ($1::float8) GROUP BY state, host;

-- name: backfill_jobs_few
SELECT s.state,
  (
    SELECT count(*)
    FROM (
      SELECT 1
      FROM skua.backfill_jobs AS j
      WHERE j.state = s.state AND j.error IS NOT NULL
      LIMIT $1::int8
    ) AS few
  )
FROM (VALUES ('unavailable'), ('failed')) AS s(state)
UNION ALL
SELECT 'running',
  (SELECT count(*) FROM (SELECT 1 FROM skua.backfill_jobs WHERE state = 'running' LIMIT $1::int8) AS few);

-- name: backfill_jobs_errors
SELECT s.state, last.error, count(*), max(last.finished_at)
FROM (VALUES ('queued'), ('running'), ('unavailable'), ('failed'), ('cancelled')) AS s(state)
CROSS JOIN LATERAL (
  SELECT j.error, j.finished_at
  FROM skua.backfill_jobs AS j
  WHERE j.state = s.state AND j.error IS NOT NULL AND j.finished_at IS NOT NULL
  ORDER BY j.finished_at DESC
  LIMIT 1000
) AS last
GROUP BY s.state, last.error
ORDER BY count(*) DESC, max(last.finished_at) DESC, last.error
LIMIT 50;

-- name: backfill_jobs_blocks
SELECT pg_relation_size('skua.backfill_jobs') / current_setting('block_size')::int8;

-- name: backfill_jobs_ended_since
SELECT count(*)
FROM skua.backfill_jobs
WHERE state = $1 AND error IS NOT NULL AND finished_at >= $2::timestamptz;
