-- name: backfill_hosts_insert
INSERT INTO skua.backfill_hosts (
  host, what, is_operator_specified, announced, next_attempt, updated_at, begun_at)
SELECT u.host, u.what, u.is_operator_specified, u.announced, $3::timestamptz, $3::timestamptz, $3::timestamptz
FROM unnest(
  $1::text[], $2::text[], $4::boolean[], $5::int8[]) AS u(host, what, is_operator_specified, announced)
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
