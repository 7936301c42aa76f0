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
-- $5: the delay after the nth failure, $8: the number of failures after which the list fails
-- permanently.
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
