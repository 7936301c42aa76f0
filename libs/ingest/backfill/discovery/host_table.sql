-- name: backfill_hosts_insert
INSERT INTO skua.backfill_hosts (host, what, is_operator_specified, announced, next_attempt, updated_at, begun_at)
SELECT u.host, u.what, u.is_operator_specified, u.announced, $3::timestamptz, $3::timestamptz, $3::timestamptz
FROM unnest($1::text[], $2::text[], $4::boolean[], $5::int8[]) AS u(host, what, is_operator_specified, announced)
ORDER BY u.host, u.what
ON CONFLICT (host, what) DO NOTHING;

-- name: backfill_hosts_set_operator_specified
UPDATE skua.backfill_hosts AS h
SET is_operator_specified = true
FROM unnest($1::text[], $2::text[]) AS u(host, what)
WHERE h.host = u.host AND h.what = u.what AND NOT h.is_operator_specified;

-- name: backfill_hosts_announced
WITH said AS MATERIALIZED (
  SELECT h.host, h.what, u.announced
  FROM unnest($1::text[], $2::text[], $3::int8[]) AS u(host, what, announced)
  JOIN skua.backfill_hosts AS h ON h.host = u.host AND h.what = u.what
  WHERE u.announced IS DISTINCT FROM h.announced AND u.announced IS NOT NULL
  ORDER BY h.host, h.what
  FOR UPDATE OF h
)
UPDATE skua.backfill_hosts AS h
SET announced = said.announced
FROM said
WHERE h.host = said.host AND h.what = said.what;

-- name: backfill_hosts_operator_specified
SELECT DISTINCT host
FROM skua.backfill_hosts
WHERE is_operator_specified
ORDER BY host;

-- name: backfill_hosts_anew
WITH asked AS MATERIALIZED (
  SELECT h.host, h.what
  FROM unnest($1::text[], $2::text[]) AS u(host, what)
  JOIN skua.backfill_hosts AS h ON h.host = u.host AND h.what = u.what
  WHERE h.state IN ('listed', 'failed', 'cancelled')
  ORDER BY h.host, h.what
  FOR UPDATE OF h
)
UPDATE skua.backfill_hosts AS h
SET next_attempt = $3::timestamptz, attempts = 0, error = NULL,
  state = 'none', cursor = NULL, listed = 0, lease_owner = NULL, begun_at = $3::timestamptz
FROM asked
WHERE h.host = asked.host AND h.what = asked.what;

-- name: backfill_hosts_anew_if_older
WITH asked AS MATERIALIZED (
  SELECT h.host, h.what
  FROM unnest($1::text[], $2::text[]) AS u(host, what)
  JOIN skua.backfill_hosts AS h ON h.host = u.host AND h.what = u.what
  WHERE h.state IN ('listed', 'failed') AND h.begun_at < $4::timestamptz
  ORDER BY h.host, h.what
  FOR UPDATE OF h
)
UPDATE skua.backfill_hosts AS h
SET next_attempt = $3::timestamptz, attempts = 0, error = NULL,
  state = 'none', cursor = NULL, listed = 0, lease_owner = NULL, begun_at = $3::timestamptz
FROM asked
WHERE h.host = asked.host AND h.what = asked.what;

-- name: backfill_hosts_hurry
WITH asked AS MATERIALIZED (
  SELECT h.host, h.what
  FROM unnest($1::text[], $2::text[]) AS u(host, what)
  JOIN skua.backfill_hosts AS h ON h.host = u.host AND h.what = u.what
  WHERE h.state IN ('none', 'listing') AND h.lease_owner IS NULL AND h.next_attempt > $3::timestamptz
  ORDER BY h.host, h.what
  FOR UPDATE OF h
)
UPDATE skua.backfill_hosts AS h
SET next_attempt = $3::timestamptz, attempts = 0, error = NULL
FROM asked
WHERE h.host = asked.host AND h.what = asked.what;
