-- name: repositories_current
SELECT r.did
FROM unnest($1::text[], $2::int8[]) AS u(did, listed)
JOIN skua.repositories AS r ON r.did = u.did
WHERE r.state = 'complete' AND r.rev >= u.listed;

-- name: audit_first
INSERT INTO skua.backfill_hosts (host, what, is_operator_specified, state, next_attempt, updated_at, begun_at)
VALUES ($1, 'audit:hosts', true, 'listed', $2::timestamptz, $2::timestamptz, $2::timestamptz)
ON CONFLICT (host, what) DO NOTHING;

-- name: audit_begin
UPDATE skua.backfill_hosts
SET state = 'none', cursor = NULL, listed = 0, attempts = 0, error = NULL, lease_owner = NULL,
  begun_at = $2::timestamptz, next_attempt = $2::timestamptz
WHERE host = $1
  AND what = 'audit:hosts'
  AND state IN ('listed', 'failed')
  AND begun_at <= $2::timestamptz - make_interval(secs => $3::int8)
  AND ($4::boolean OR NOT EXISTS (SELECT 1 FROM skua.filter_state WHERE cardinality(dids) > 0));

-- name: audit_behind
-- $3 is the host, $4 are the sources, and $5 is now. A TID is the time in microseconds followed by ten more bits. Rows are
-- locked in the order that all transactions on skua.repositories use.
WITH settled AS (
  SELECT
    (
      extract(epoch FROM least(max(c.event_time), $5::timestamptz) - interval '10 minutes') * 1000000
    )::int8 << 10 AS rev
  FROM skua.cursors AS c
  WHERE c.source = ANY($4::text[])
  HAVING max(c.event_time) IS NOT NULL
),
behind AS MATERIALIZED (
  SELECT r.did
  FROM unnest($1::text[], $2::int8[]) AS u(did, listed)
  JOIN skua.repositories AS r ON r.did = u.did
  JOIN skua.identities AS i ON i.did = u.did AND i.pds = $3
  WHERE r.state <> 'desynchronized'
    AND (
      r.state = 'complete' AND r.active AND r.rev < u.listed AND u.listed < (SELECT rev FROM settled)
      OR EXISTS (
        SELECT 1
        FROM bsky.actors AS a
        WHERE a.did = r.did AND NOT a.active AND a.status_time < $5::timestamptz - interval '10 minutes'
      ))
    AND NOT EXISTS (SELECT 1 FROM skua.filter_state AS f WHERE cardinality(f.dids) > 0 AND r.did <> ALL(f.dids))
    AND NOT EXISTS (SELECT 1 FROM skua.excluded_accounts AS e WHERE e.did = r.did)
  ORDER BY r.did
  FOR UPDATE OF r
)
UPDATE skua.repositories AS r
SET state = 'desynchronized', next_attempt = $5::timestamptz
FROM behind
WHERE r.did = behind.did;

-- name: signal_accounts_wanted
SELECT u.did
FROM unnest($1::text[]) AS u(did)
WHERE NOT EXISTS (SELECT 1 FROM skua.repositories AS r WHERE r.did = u.did AND r.state = 'complete')
  AND NOT EXISTS (SELECT 1 FROM skua.excluded_accounts AS e WHERE e.did = u.did);
