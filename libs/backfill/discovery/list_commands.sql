-- fragment: meant_lists
-- $1: states of jobs, to which those of lists correspond. $2: a host or null.
CASE h.state
      WHEN 'none' THEN 'queued'
      WHEN 'listed' THEN 'done'
      WHEN 'listing' THEN CASE WHEN h.lease_owner IS NULL THEN 'queued' ELSE 'running' END
      ELSE h.state
    END = ANY($1::text[])
    AND ($2::text IS NULL OR h.host = $2::text)
    AND NOT starts_with(h.what, 'audit:')

-- name: backfill_lists_retry
WITH hit AS MATERIALIZED (
  SELECT h.host, h.what FROM skua.backfill_hosts AS h
  WHERE (h.state NOT IN ('none', 'listing') OR (h.lease_owner IS NULL AND h.next_attempt > $3::timestamptz))
    AND {{meant_lists}}
  ORDER BY h.host, h.what
  FOR UPDATE
)
UPDATE skua.backfill_hosts AS h
SET lease_owner = NULL, updated_at = $3::timestamptz, attempts = 0, error = NULL,
  state = CASE WHEN h.cursor IS NULL THEN 'none' ELSE 'listing' END, next_attempt = $3::timestamptz
FROM hit
WHERE h.host = hit.host AND h.what = hit.what;

-- name: backfill_lists_cancel
WITH hit AS MATERIALIZED (
  SELECT h.host, h.what FROM skua.backfill_hosts AS h
  WHERE h.state <> 'cancelled'
    AND {{meant_lists}}
  ORDER BY h.host, h.what
  FOR UPDATE
)
UPDATE skua.backfill_hosts AS h
SET lease_owner = NULL, updated_at = $3::timestamptz, state = 'cancelled'
FROM hit
WHERE h.host = hit.host AND h.what = hit.what;
