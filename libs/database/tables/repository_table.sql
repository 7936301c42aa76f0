-- name: repositories_load
SELECT r.did, r.rev, r.data, r.active, r.reason IS NOT NULL,
  (SELECT a.status_time FROM bsky.actors AS a WHERE a.did = r.did AND NOT a.active)
FROM unnest($1::text[]) AS asked(did)
JOIN skua.repositories AS r ON r.did = asked.did;

-- name: repositories_save
-- $7 selects the states in which a break makes a repository desynchronized: only 'complete', or all states. If a repository was
-- just created, older rows come from an unverified source, and the new repository lacks their records.
INSERT INTO skua.repositories AS r (did, rev, data, active, breaks, anchor, broke_at, state, next_attempt)
SELECT u.did, u.rev, u.data, u.active, u.breaks, u.anchor, CASE WHEN u.breaks > 0 THEN $6::timestamptz END,
  CASE WHEN u.breaks > 0 AND ($7::boolean OR b.is_whole) THEN 'desynchronized'
    WHEN b.is_whole THEN 'complete'
    ELSE 'partial'
  END,
  CASE WHEN u.breaks > 0 AND ($7::boolean OR b.is_whole) THEN $6::timestamptz END
FROM unnest(
  $1::text[], $2::int8[], $3::bytea[], $4::boolean[], $5::int4[], $8::int8[], $9::int8[]
) AS u(did, rev, data, active, breaks, anchor, born),
  LATERAL (
    SELECT
      u.born IS NOT NULL AND NOT EXISTS (
        SELECT 1
        FROM bsky.all_records AS old
        WHERE old.did = u.did AND old.rev < bsky.tid_text(u.born)
      ) AS is_whole
  ) AS b
ON CONFLICT (did)
DO UPDATE SET active = EXCLUDED.active,
  rev = CASE WHEN EXCLUDED.rev > coalesce(r.rev, 0) THEN EXCLUDED.rev ELSE r.rev END,
  data = CASE WHEN EXCLUDED.rev > coalesce(r.rev, 0) THEN EXCLUDED.data ELSE r.data END,
  breaks = r.breaks + EXCLUDED.breaks, anchor = greatest(r.anchor, EXCLUDED.anchor),
  broke_at = coalesce(EXCLUDED.broke_at, r.broke_at),
  -- EXCLUDED.state is 'complete', or 'desynchronized' for a repository that is complete since its creation.
  state = CASE WHEN r.rev IS NULL AND r.state = 'partial' THEN EXCLUDED.state
    WHEN EXCLUDED.breaks > 0 AND (r.state = 'complete' OR $7::boolean) THEN 'desynchronized'
    ELSE r.state
  END,
  next_attempt = CASE WHEN r.rev IS NULL AND r.state = 'partial' THEN EXCLUDED.next_attempt
    WHEN EXCLUDED.breaks > 0 AND r.state <> 'desynchronized' AND (
      r.state = 'complete'
      OR $7::boolean) THEN $6::timestamptz
    ELSE r.next_attempt
  END;

-- name: repositories_desynchronize
-- The anchor prevents the download of an earlier revision from ending the wait.
INSERT INTO skua.repositories AS r (did, state, next_attempt, anchor, reason)
SELECT u.did, 'desynchronized', $3::timestamptz, u.rev, $4
FROM unnest($1::text[], $2::int8[]) AS u(did, rev)
ON CONFLICT (did)
DO UPDATE SET state = 'desynchronized', anchor = greatest(r.anchor, EXCLUDED.anchor),
  reason = CASE WHEN r.state <> 'desynchronized' THEN EXCLUDED.reason ELSE r.reason END,
  next_attempt = CASE WHEN r.state <> 'desynchronized' THEN EXCLUDED.next_attempt ELSE r.next_attempt END
WHERE r.state <> 'desynchronized' OR EXCLUDED.anchor > coalesce(r.anchor, 0);

-- name: repositories_take_due
UPDATE skua.repositories AS r
SET next_attempt = $2::timestamptz
FROM (
  SELECT did
  FROM skua.repositories
  WHERE state = 'desynchronized' AND next_attempt <= $1::timestamptz
  ORDER BY next_attempt
  LIMIT $3::int8
  FOR UPDATE SKIP LOCKED
) AS due
WHERE r.did = due.did
RETURNING r.did, coalesce((SELECT i.pds FROM skua.identities AS i WHERE i.did = r.did), ''),
  r.reason IS NOT DISTINCT FROM $4;

-- name: repositories_postpone
UPDATE skua.repositories AS r
SET next_attempt = u.until, reason = CASE WHEN u.is_reserved THEN $4 ELSE r.reason END
FROM unnest($1::text[], $2::timestamptz[], $3::boolean[]) AS u(did, until, is_reserved)
WHERE r.did = u.did AND r.state = 'desynchronized';

-- name: repositories_ask
INSERT INTO skua.repositories AS r (did, state, next_attempt)
VALUES ($1, 'desynchronized', $2::timestamptz)
ON CONFLICT (did)
DO UPDATE SET state = 'desynchronized', attempts = 0, error = NULL, next_attempt = $2::timestamptz;

-- name: repositories_attempts
UPDATE skua.repositories
SET attempts = attempts + 1, error = $2
WHERE did = $1 AND state = 'desynchronized'
RETURNING attempts;

-- name: repositories_retry_at
UPDATE skua.repositories
SET next_attempt = $2::timestamptz
WHERE did = $1 AND state = 'desynchronized';

-- name: repositories_deleted
-- A repository that does not exist lacks nothing.
UPDATE skua.repositories
SET state = 'complete', attempts = 0, error = NULL, reason = NULL, next_attempt = NULL
WHERE did = $1 AND state = 'desynchronized';

-- name: repositories_done
-- Locks the filter's row, so that either a concurrent change to a wider filter sees this repository as complete, or this
-- statement sees the change.
INSERT INTO skua.repositories AS r (did, rev, data, state, reason, next_attempt)
SELECT u.did, u.rev, u.data, CASE WHEN u.filter < f.widened THEN 'desynchronized' ELSE 'complete' END,
  CASE WHEN u.filter < f.widened THEN 'the filter came to let more collections through meanwhile' END,
  CASE WHEN u.filter < f.widened THEN $4::timestamptz + interval '10 seconds' END
FROM unnest($1::text[], $2::int8[], $3::bytea[], $5::int8[]) AS u(did, rev, data, filter)
LEFT JOIN (SELECT widened FROM skua.filter_state FOR SHARE) AS f ON true
ON CONFLICT (did)
DO UPDATE SET attempts = 0, error = NULL, reason = EXCLUDED.reason,
  state = CASE WHEN r.anchor > EXCLUDED.rev THEN 'desynchronized' ELSE EXCLUDED.state END,
  next_attempt = CASE WHEN r.anchor > EXCLUDED.rev THEN $4::timestamptz ELSE EXCLUDED.next_attempt END,
  rev = greatest(r.rev, EXCLUDED.rev),
  data = CASE WHEN EXCLUDED.rev > coalesce(r.rev, 0) THEN EXCLUDED.data ELSE r.data END
RETURNING did, state = 'complete';
