-- name: bulk_our_jobs
-- The tombstones of a running job are deleted an hour after its lease (store::save_cursor). Its last write is long
-- before that. The lock permits the renewal of leases, and prevents that another owner leases the job. All statements
-- lock jobs in the same order. Each job is looked up by key, whatever the size of the table was at the time of the
-- plan.
SELECT k.place - 1
FROM (
  SELECT *
  FROM unnest($1::text[], $2::int8[])
  WITH ORDINALITY AS u(did, lease_number, place)
  ORDER BY u.did
) AS k
CROSS JOIN LATERAL (
  SELECT j.did
  FROM skua.backfill_jobs AS j
  WHERE j.did = k.did
    AND j.state = 'running'
    AND j.lease_number = k.lease_number
    AND j.lease_until > now() - interval '30 minutes' FOR KEY SHARE
) AS j;
