-- name: backfill_hosts_lease
WITH due AS MATERIALIZED (
  SELECT host, what
  FROM skua.backfill_hosts
  WHERE state IN ('none', 'listing')
    AND next_attempt <= $1::timestamptz
    AND starts_with(what, 'audit:') = $5::boolean
  ORDER BY next_attempt
  LIMIT $4::int8
  FOR UPDATE SKIP LOCKED
)
UPDATE skua.backfill_hosts AS h
SET state = 'listing', next_attempt = $2::timestamptz, lease_owner = $3
FROM due
WHERE h.host = due.host AND h.what = due.what
RETURNING h.host, h.what, h.is_operator_specified, h.announced, h.cursor, h.listed,
  greatest(h.begun_at, to_timestamp(0));

-- name: backfill_hosts_save_page
UPDATE skua.backfill_hosts
SET cursor = $3::text, listed = listed + $4::int8, attempts = 0, error = NULL, updated_at = $6::timestamptz,
  next_attempt = $7::timestamptz, state = CASE WHEN $3::text IS NULL THEN 'listed' ELSE 'listing' END,
  lease_owner = CASE WHEN $3::text IS NULL THEN NULL ELSE lease_owner END
WHERE host = $1 AND what = $2 AND state = 'listing' AND lease_owner = $5;

-- name: backfill_hosts_failed
-- $5 are the delays after the nth failure, and $8 is the number of failures after which the list fails permanently.
UPDATE skua.backfill_hosts
SET attempts = attempts + 1, error = $6, lease_owner = NULL, updated_at = $4::timestamptz,
  next_attempt = $4::timestamptz + make_interval(
    secs => $7::int8 + ($5::int8[])[least(attempts + 1, cardinality($5::int8[]))]),
  state = CASE WHEN attempts + 1 >= $8::int4 THEN 'failed' ELSE 'listing' END
WHERE host = $1 AND what = $2 AND state = 'listing' AND lease_owner = $3
RETURNING state;

-- name: backfill_hosts_postponed
UPDATE skua.backfill_hosts
SET error = $5, lease_owner = NULL, updated_at = $4::timestamptz,
  next_attempt = $4::timestamptz + make_interval(secs => $6::int8)
WHERE host = $1 AND what = $2 AND state = 'listing' AND lease_owner = $3;

-- name: backfill_hosts_release
UPDATE skua.backfill_hosts
SET lease_owner = NULL, next_attempt = $2::timestamptz
WHERE state = 'listing' AND lease_owner = $1;

-- name: backfill_hosts_orphans
UPDATE skua.backfill_hosts
SET lease_owner = NULL, next_attempt = $1::timestamptz
WHERE state = 'listing'
  AND lease_owner IS NOT NULL
  AND {{owner_has_ended}};

-- name: backfill_hosts_next
SELECT min(next_attempt)
FROM skua.backfill_hosts
WHERE state IN ('none', 'listing') AND starts_with(what, 'audit:') = $1::boolean;

-- fragment: meant_lists
-- $1 are states of jobs. The fragment maps the states of lists to them. $2 is a host or null.
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

-- name: backfill_hosts_counts
SELECT what, CASE WHEN state = 'listing' AND lease_owner IS NULL THEN 'none' ELSE state END AS shown,
  count(*), sum(listed)::int8
FROM skua.backfill_hosts
WHERE starts_with(what, 'audit:') = $1::boolean
GROUP BY what, shown;

-- name: backfill_hosts_errors
SELECT host, what, is_operator_specified, state, error, next_attempt
FROM skua.backfill_hosts
WHERE error IS NOT NULL AND state <> 'cancelled' AND starts_with(what, 'audit:') = $2::boolean
ORDER BY updated_at DESC, host, what
LIMIT $1::int8;

-- name: backfill_hosts_abandoned_since
SELECT count(*)
FROM skua.backfill_hosts
WHERE state = 'failed' AND updated_at >= $1::timestamptz AND NOT starts_with(what, 'audit:');
