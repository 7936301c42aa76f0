-- name: backfill_jobs_blocks
SELECT pg_relation_size('skua.backfill_jobs') / current_setting('block_size')::int8;

-- name: backfill_jobs_read
SELECT did, state, error, lease_owner, host, rev, coalesce(records, 0), attempts,
  (extract(epoch FROM next_attempt) * 1000000)::int8, (extract(epoch FROM finished_at) * 1000000)::int8
FROM skua.backfill_jobs
WHERE did = ANY($1::text[])
ORDER BY did COLLATE "C";
