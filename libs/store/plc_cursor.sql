-- name: plc_cursor_load
SELECT c.since, c.newest, c.current_at, u.cid
FROM skua.plc_cursor AS c
LEFT JOIN LATERAL unnest(c.cids) AS u(cid) ON true;

-- name: plc_cursor_begin
INSERT INTO skua.plc_cursor (since, newest, cids, current_at)
VALUES ($1::timestamptz, $2::timestamptz, $3::text[], $4::timestamptz)
ON CONFLICT DO NOTHING;

-- name: plc_cursor_advance
UPDATE skua.plc_cursor
SET since = $1::timestamptz, newest = $2::timestamptz, cids = $3::text[], current_at = $4::timestamptz
WHERE newest = $5::timestamptz AND since IS NOT DISTINCT FROM $6::timestamptz;

-- name: plc_cursor_add
-- The two intervals overlap, the import comes first, or it begins behind the cursor.
INSERT INTO skua.plc_cursor AS c (since, newest, current_at)
VALUES ($1::timestamptz, $2::timestamptz, $2::timestamptz)
ON CONFLICT (is_only)
DO UPDATE SET
  since = CASE WHEN EXCLUDED.newest < c.since THEN EXCLUDED.since
    WHEN EXCLUDED.since IS NULL OR c.since IS NULL THEN NULL
    ELSE least(c.since, EXCLUDED.since)
  END,
  newest = EXCLUDED.newest, current_at = EXCLUDED.newest, cids = '{}'
WHERE coalesce(EXCLUDED.since, '-infinity') <= c.newest
  AND (EXCLUDED.newest < c.since OR EXCLUDED.newest > c.newest);

-- name: plc_cursor_widen
UPDATE skua.plc_cursor
SET since = $1::timestamptz
WHERE coalesce($1::timestamptz, '-infinity') < since AND $2::timestamptz BETWEEN since AND newest;
