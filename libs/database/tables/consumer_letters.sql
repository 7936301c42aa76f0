-- name: consumer_letters_write
WITH given AS (
  -- A message has no account, but its topic and key has a share of its own.
  SELECT CASE WHEN $7::int8 < 0 THEN format('message:%s', -$7::int8)
      ELSE coalesce((SELECT a.did FROM bsky.actors AS a WHERE a.id = $7::int8), '')
    END AS did,
    EXISTS (SELECT 1 FROM skua.dead_letter AS d WHERE d.consumer = $1 AND d.key = $2) AS is_known
),
fitting AS (
  SELECT g.did
  FROM given AS g
  WHERE g.is_known
    OR (
      pg_total_relation_size('skua.dead_letter') < $16::int8 / 2
      AND (
        SELECT
          count(*) < $15::int8 AND coalesce(
            sum(coalesce(octet_length(p.payload), 0) + octet_length(p.error)), 0
          ) + coalesce(octet_length($10::bytea), 0) + octet_length($12) <= $17::int8
        FROM (
          SELECT d.payload, d.error
          FROM skua.dead_letter AS d
          WHERE d.did = g.did AND d.consumer = $1 AND d.finished_at IS NULL
          LIMIT $15::int8
        ) AS p
      ))
)
INSERT INTO skua.dead_letter AS t (
  consumer, key, lane, timeline, pos, operation, actor_id, collection_id, rkey, payload, payload_bytes, error,
  sqlstate, did, created_at, last_at)
SELECT $1, $2, $3::int4, $4::int4, $5::int8, $6, $7::int8, $8::int4, $9::int8, $10::bytea, $11::int4, $12,
  $13, f.did, $14::timestamptz, $14::timestamptz
FROM fitting AS f
ON CONFLICT (consumer, key)
DO UPDATE SET attempts = t.attempts + 1, status = 'dead', lane = EXCLUDED.lane,
  payload = coalesce(EXCLUDED.payload, t.payload), payload_bytes = coalesce(EXCLUDED.payload_bytes, t.payload_bytes),
  error = EXCLUDED.error, sqlstate = EXCLUDED.sqlstate,
  last_at = EXCLUDED.last_at, lease_owner = NULL, lease_until = NULL, finished_at = NULL, note = NULL
RETURNING t.id;

-- name: consumer_letters_fail
UPDATE skua.dead_letter
SET status = 'dead', attempts = attempts + 1, last_at = clock_timestamp(), error = $3, sqlstate = NULL
WHERE id = $1::int8 AND pos = $2::int8 AND status = 'requested';

-- name: consumer_letters_lease
-- Locks the rows in the order of their positions, and skips a letter that another session is leasing.
WITH due AS MATERIALIZED (
  SELECT d.id
  FROM skua.dead_letter AS d
  WHERE d.consumer = $1
    AND d.lane = $2::int4
    AND d.pos IS NOT NULL
    AND (d.status = 'requested' OR (d.status = 'replaying' AND d.lease_until <= clock_timestamp()))
  ORDER BY d.timeline, d.pos
  LIMIT $5::int8
  FOR UPDATE SKIP LOCKED
),
leased AS (
  UPDATE skua.dead_letter AS d
  SET status = 'replaying', lease_owner = $3,
    lease_until = clock_timestamp() + make_interval(secs => $4::int8)
  FROM due
  WHERE d.id = due.id
  RETURNING d.*
)
SELECT id, timeline, pos, coalesce(operation, ''), actor_id, collection_id, rkey, payload, error, coalesce(sqlstate, '')
FROM leased
ORDER BY timeline, pos;
