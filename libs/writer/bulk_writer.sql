-- name: bulk_our_jobs
-- An hour after its lease the deletes of a running job are forgotten all the same
-- (store::save_cursor): long before that nobody writes for it any more. The lock lets leases be
-- renewed, and keeps everybody else from taking the job. In the order in which all lock jobs; each
-- is looked up by key, whatever the table looked like when it was planned.
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
