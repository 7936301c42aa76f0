-- name: dead_letters_write
-- Looks at the letters of an account only up to its limit, with an index. $16: the bytes of an
-- account. When three quarters of the table are used, an account has a 64th of them, so that the
-- rest is there for accounts with few letters.
WITH given AS (
  SELECT l.*, row_number() OVER (PARTITION BY l.did ORDER BY l.consumer, l.key) AS n,
    sum(coalesce(octet_length(l.payload), 0)) OVER (PARTITION BY l.did ORDER BY l.consumer, l.key) AS bytes,
    EXISTS (SELECT 1 FROM skua.dead_letter d WHERE d.consumer = l.consumer AND d.key = l.key) AS is_known
  FROM unnest(
    $1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::text[], $7::int4[], $8::text[],
    $9::text[], $10::text[], $11::int8[], $12::bytea[]
  ) AS l(consumer, key, did, payload, error, sqlstate, payload_bytes, source, path, operation, rev, cid)
),
used AS (SELECT pg_total_relation_size('skua.dead_letter') AS bytes),
fitting AS (
  SELECT g.*
  FROM given g
  CROSS JOIN used
  CROSS JOIN LATERAL (
    SELECT count(*) AS n, coalesce(sum(p.bytes), 0) AS bytes
    FROM (
      SELECT coalesce(octet_length(d.payload), 0) AS bytes
      FROM skua.dead_letter d
      WHERE d.did = g.did
      LIMIT $14::int8
    ) AS p
  ) AS present
  WHERE g.is_known
    OR (
      used.bytes < $15::int8
      AND g.n + present.n <= $14::int8
      AND g.bytes + present.bytes <= CASE WHEN used.bytes < $15::int8 / 4 * 3 THEN $16::int8
        ELSE $16::int8 / 64
      END)
),
written AS (
  INSERT INTO skua.dead_letter AS t (
    consumer, key, did, payload, error, sqlstate, payload_bytes, source, path, operation, rev, cid,
    created_at, last_at)
  SELECT consumer, key, did, payload, error, sqlstate, payload_bytes, source, path, operation, rev, cid,
    $13::timestamptz, $13::timestamptz
  FROM fitting
  ON CONFLICT (consumer, key)
  DO UPDATE SET attempts = t.attempts + 1, payload = EXCLUDED.payload, error = EXCLUDED.error,
    sqlstate = EXCLUDED.sqlstate, payload_bytes = EXCLUDED.payload_bytes, source = EXCLUDED.source,
    path = EXCLUDED.path, operation = EXCLUDED.operation, rev = EXCLUDED.rev, cid = EXCLUDED.cid,
    last_at = EXCLUDED.last_at, status = 'dead', lease_owner = NULL, lease_until = NULL, finished_at = NULL,
    note = NULL
  WHERE (t.payload, t.error, t.sqlstate) IS DISTINCT FROM (
    EXCLUDED.payload, EXCLUDED.error, EXCLUDED.sqlstate)
  RETURNING 1
)
SELECT (SELECT count(*) FROM written), (SELECT count(*) FROM fitting);
