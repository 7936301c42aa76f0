-- name: letter_reasons
SELECT count(*), error, max(last_at), (sum(count(*)) OVER ())::int8
FROM skua.dead_letter_errors
GROUP BY error
ORDER BY 1 DESC, 2
LIMIT $1;

-- name: dead_letters_write
-- Reads the letters of an account only up to its limit, with an index. $16 is the limit of the bytes of an account. When three
-- quarters of the table are used, an account may use only a 64th of this limit, so that the rest is free for accounts with few
-- letters.
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

-- fragment: letter_columns
-- These columns of the row d are the fields of LetterRecord (dead_letters.cpp).
d.id, d.status, d.created_at, d.last_at, d.attempts, d.consumer, d.key, d.did, d.error, d.sqlstate, d.operation,
  d.payload_bytes, d.source, d.path, d.rev, d.cid, d.timeline, d.lane, d.pos, d.actor_id, d.collection_id, d.rkey,
  d.lease_owner, d.lease_until, d.finished_at, d.note

-- fragment: letter_matches
-- Whether the row d matches LetterFilter, which has the parameters 1 to 7.
(cardinality($1::int8[]) = 0 OR d.id = ANY($1::int8[]))
  AND ($2::text IS NULL OR d.consumer = $2::text)
  AND ($3::text IS NULL OR d.did = $3::text)
  AND (cardinality($4::text[]) = 0 OR d.status = ANY($4::text[]))
  AND ($5::text IS NULL OR strpos(lower(d.error), lower($5::text)) > 0)
  AND coalesce(d.finished_at, d.last_at) <= clock_timestamp() - make_interval(secs => $6::int8)
  AND ($7::int4 IS NULL OR d.lane = $7::int4)

-- fragment: letter_not_leased
(d.status <> 'replaying' OR d.lease_until <= clock_timestamp())

-- fragment: letter_is_dead
-- Whether no process has handled the letter, or the lease has expired.
(d.status = 'dead' OR (d.status = 'replaying' AND d.lease_until <= clock_timestamp()))

-- fragment: letter_leased_by
-- $1 is the number of the letter, $2 is the lease owner.
d.id = $1 AND d.status = 'replaying' AND d.lease_owner = $2

-- name: dead_letters_list
SELECT {{letter_columns}}
FROM skua.dead_letter AS d
WHERE {{letter_matches}}
ORDER BY d.last_at DESC, d.id DESC
LIMIT $8::int8;

-- name: dead_letters_ids
SELECT d.id FROM skua.dead_letter AS d WHERE {{letter_matches}} ORDER BY d.timeline NULLS FIRST, d.pos, d.id;

-- name: dead_letters_payload
SELECT payload FROM skua.dead_letter WHERE id = $1;

-- name: dead_letters_lease
UPDATE skua.dead_letter AS d
SET status = 'replaying', lease_owner = $2, lease_until = clock_timestamp() + make_interval(secs => $3::int8)
WHERE d.id = $1 AND d.pos IS NULL AND {{letter_is_dead}}
RETURNING {{letter_columns}};

-- name: dead_letters_resolve_replay
UPDATE skua.dead_letter AS d
SET status = 'resolved', lease_owner = NULL, lease_until = NULL, finished_at = clock_timestamp(), note = $3
WHERE {{letter_leased_by}};

-- name: dead_letters_fail_replay
UPDATE skua.dead_letter AS d
SET status = 'dead', lease_owner = NULL, lease_until = NULL, last_at = clock_timestamp(), attempts = d.attempts + 1,
  error = $3, sqlstate = nullif($4, '')
WHERE {{letter_leased_by}};

-- name: dead_letters_release
UPDATE skua.dead_letter AS d
SET status = 'dead', lease_owner = NULL, lease_until = NULL
WHERE {{letter_leased_by}};

-- name: dead_letters_request
UPDATE skua.dead_letter AS d
SET status = 'requested', lease_owner = NULL, lease_until = NULL
WHERE d.id = $1 AND d.pos IS NOT NULL AND {{letter_is_dead}};

-- name: dead_letters_finish
UPDATE skua.dead_letter AS d
SET status = $8, lease_owner = NULL, lease_until = NULL, finished_at = clock_timestamp(), note = nullif($9, '')
WHERE {{letter_matches}} AND d.finished_at IS NULL AND {{letter_not_leased}}
RETURNING d.id;

-- name: dead_letters_purge
DELETE FROM skua.dead_letter AS d WHERE {{letter_matches}} AND {{letter_not_leased}};

-- name: dead_letters_purge_finished
DELETE FROM skua.dead_letter WHERE finished_at <= clock_timestamp() - make_interval(secs => $1::int8);
