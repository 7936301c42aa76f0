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
