-- name: bulk_guard_old
-- A repository at the minimum revision has the records for which the minimum was raised, so these records may come again. The
-- records that an account had when it was deleted stay deleted.
SELECT id, CASE WHEN status = 'deleted' THEN floor_rev ELSE floor_rev - 1 END
FROM bsky.actors
WHERE id = ANY($1::int8[]) AND floor_rev > 0;

-- name: bulk_guard_heads
-- A stored revision is never newer than the rows of the repository.
SELECT k.id, r.rev
FROM unnest($1::int8[]) AS k(id)
JOIN bsky.actors AS a ON a.id = k.id
CROSS JOIN LATERAL (SELECT * FROM skua.repositories AS r WHERE r.did = a.did OFFSET 0) AS r
WHERE r.rev IS NOT NULL;

-- name: bulk_guard_tombstones
-- With OFFSET 0, as in row_writer.sql, PostgreSQL looks the rows of the accounts up by key, however large the tables were when
-- it made the plan.
SELECT t.actor_id, t.collection_id, t.rkey, t.rev
FROM unnest($1::int8[]) AS a(id)
CROSS JOIN LATERAL (SELECT * FROM skua.tombstones AS t WHERE t.actor_id = a.id OFFSET 0) AS t;

-- name: bulk_guard_invalid
-- The rows are records of typed collections that are in `bsky.records`, because they broke their lexicon.
SELECT r.actor_id, r.collection_id, r.rkey, r.rev
FROM unnest($1::int8[]) AS a(id)
CROSS JOIN LATERAL (
  SELECT *
  FROM bsky.records AS r
  WHERE (r.actor_id, r.collection_id) >= (a.id, 1)
    AND (r.actor_id, r.collection_id) <= (a.id, $2::int4) OFFSET 0
) AS r;

-- name: bulk_our_jobs
-- The tombstones of a running job are deleted an hour after its lease (tables::save_cursor). The last write of the job is long
-- before that time. The lock of a job permits the renewal of its lease, and prevents another owner from leasing the job. All
-- statements lock jobs in the same order. PostgreSQL looks each job up by key, however large the table was when it made the
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
