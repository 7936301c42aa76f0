-- name: handles_lock_actors
-- Locks all actors to be written, and all that may lose a handle, in the order of their ids, so that two sessions cannot
-- deadlock.
SELECT id, handle
FROM bsky.actors
WHERE id = ANY($1::int8[]) OR handle = ANY($2::text[])
ORDER BY id
FOR NO KEY UPDATE;

-- name: handles_read
SELECT id, handle FROM bsky.actors WHERE id = ANY($1::int8[]);

-- name: handles_claim
-- A claim is looked up at once, unless the account has used up its look-ups ($4: now). A repeated claim keeps the result of its
-- look-up, and does not advance a look-up that waits. A new claim gives the account the handle at once, unless another account
-- has the handle and one of three conditions holds: a look-up confirmed it for that account, that account claimed it later, or
-- this account has used up its look-ups.
UPDATE bsky.actors AS a
SET handle_time = c.time, handle_claim = c.handle, handle_valid = c.valid, handle_check_due = c.due,
  handle_lookups_charged_to = c.charged_to,
  handle = CASE WHEN c.valid IS FALSE THEN NULL
    WHEN c.is_repeat AND a.handle = c.handle THEN a.handle
    WHEN EXISTS (
      SELECT 1
      FROM bsky.actors AS o
      WHERE o.handle = c.handle
        AND o.id <> a.id
        AND (o.handle_valid OR c.due > $4::timestamptz OR (o.handle_time, o.id) > (c.time, a.id))
    ) THEN NULL
    ELSE c.handle
  END
FROM (
  SELECT h.id, h.handle, h.time, r.is_repeat, CASE WHEN r.is_repeat THEN b.handle_valid END AS valid,
    CASE WHEN h.handle IS NULL THEN NULL
      WHEN r.waits THEN b.handle_check_due
      ELSE skua.handle_lookup_due(r.charged_to, $4::timestamptz)
    END AS due,
    CASE WHEN h.handle IS NULL OR r.waits THEN b.handle_lookups_charged_to ELSE r.charged_to END AS charged_to
  FROM unnest($1::int8[], $2::text[], $3::timestamptz[]) AS h(id, handle, time)
  JOIN bsky.actors AS b ON b.id = h.id AND (b.handle_time IS NULL OR b.handle_time < h.time)
  CROSS JOIN LATERAL (
    SELECT coalesce(b.handle_claim = h.handle, false) AS is_repeat,
      coalesce(b.handle_claim = h.handle AND b.handle_check_due > $4::timestamptz, false) AS waits,
      skua.charge_handle_lookup(b.handle_lookups_charged_to, $4::timestamptz) AS charged_to
  ) AS r
) AS c
WHERE a.id = c.id
RETURNING a.id;

-- name: handles_contest
-- An account loses its handle when another account gets it by a later claim, unless a look-up confirmed the handle. If the
-- times of two claims are equal, the claim of the greater id is the later one.
UPDATE bsky.actors AS a
SET handle = NULL, handle_check_due = least(a.handle_check_due, $2::timestamptz)
FROM bsky.actors AS o
WHERE o.id = ANY($1::int8[])
  AND a.handle = o.handle
  AND a.id <> o.id
  AND a.handle_valid IS NOT TRUE
  AND (a.handle_time, a.id) < (o.handle_time, o.id);

-- name: handles_due
SELECT id, did, handle_claim, handle_check_due, handle_time
FROM (
  (
    SELECT * FROM bsky.actors
    WHERE handle_check_due <= $1::timestamptz AND handle_valid IS NOT FALSE
    ORDER BY handle_check_due
    LIMIT $2::int8
  )
  UNION ALL
  (
    SELECT * FROM bsky.actors
    WHERE handle_check_due <= $1::timestamptz AND handle_valid IS FALSE
    ORDER BY handle_check_due
    LIMIT $2::int8
  )
) AS due
ORDER BY handle_valid IS FALSE, handle_check_due
LIMIT $2::int8;

-- name: handles_checked
-- A result counts for the look-up that was due. A refusal also counts if the account has repeated the claim since then and the
-- repeated claim waits for a look-up of its own. A repeated false claim therefore has no effect. $5: the earliest time at which
-- a failed look-up is repeated. $6: now.
UPDATE bsky.actors AS a
SET handle_valid = coalesce(c.valid, a.handle_valid),
  handle_check_due = CASE WHEN a.handle_check_due > c.due THEN a.handle_check_due
    WHEN c.valid IS NULL THEN greatest(c.next, skua.handle_lookup_due(r.charged_to, $6::timestamptz))
  END,
  handle_lookups_charged_to = CASE WHEN c.valid IS NULL THEN r.charged_to
    ELSE a.handle_lookups_charged_to
  END,
  handle = CASE WHEN c.valid THEN a.handle_claim WHEN NOT c.valid THEN NULL ELSE a.handle END
FROM unnest(
  $1::int8[], $2::text[], $3::timestamptz[], $4::boolean[], $5::timestamptz[]
) AS c(id, handle, due, valid, next)
JOIN bsky.actors AS b ON b.id = c.id
CROSS JOIN LATERAL (
  SELECT skua.charge_handle_lookup(b.handle_lookups_charged_to, $6::timestamptz) AS charged_to
) AS r
WHERE a.id = c.id
  AND a.handle_claim = c.handle
  AND (a.handle_check_due = c.due OR (NOT c.valid AND a.handle_check_due > c.due));

-- name: handles_dispossess
-- Runs after the other statements, in the same transaction: no other account keeps a handle that was found to be valid.
UPDATE bsky.actors AS a
SET handle = NULL, handle_valid = NULL,
  handle_check_due = greatest(
    $3::timestamptz,
    skua.handle_lookup_due(
      skua.charge_handle_lookup(a.handle_lookups_charged_to, $4::timestamptz), $4::timestamptz)),
  handle_lookups_charged_to = skua.charge_handle_lookup(a.handle_lookups_charged_to, $4::timestamptz)
FROM bsky.actors AS o
WHERE o.id = ANY($1::int8[])
  AND o.handle_valid
  AND o.handle = ANY($2::text[])
  AND a.handle = o.handle
  AND a.id <> o.id;
