-- name: cursor_load
SELECT cursor FROM skua.cursors WHERE source = $1;

-- name: cursor_of_groups
SELECT account_group, cursor FROM skua.group_cursors WHERE source = $1;

-- name: cursor_save
-- A cursor that goes back reads everything again: the sequence numbers were reset, or `--cursor` asks for it.
WITH reached AS (
  DELETE FROM skua.group_cursors AS g
  WHERE g.source = $1
    AND (g.cursor <= $2::int8 OR EXISTS (SELECT 1 FROM skua.cursors AS c WHERE c.source = $1 AND c.cursor > $2::int8))
)
INSERT INTO skua.cursors (source, cursor, event_time, saved_at)
VALUES ($1, $2::int8, $3::timestamptz, now())
ON CONFLICT (source)
DO UPDATE SET cursor = EXCLUDED.cursor, event_time = EXCLUDED.event_time, saved_at = EXCLUDED.saved_at;

-- name: cursor_purge_tombstones
-- While a backfill of a repository runs, its CAR may still contain records that were deleted since, so the tombstones of its
-- account must stay. Such accounts are few, so they are looked up once and not for each tombstone. A job that was not updated
-- for an hour writes no more rows, so no tombstone stays forever. Its lease has expired, and it can no longer finish. The
-- hour allows for different clocks. While groups of accounts arrive from another node, no tombstone is deleted: this node will read
-- again from the cursor of the other one.
DELETE FROM skua.tombstones
WHERE source = $1
  AND seq <= $2::int8
  AND NOT EXISTS (SELECT 1 FROM skua.group_moves WHERE phase = 'copy')
  AND actor_id <> ALL(
    ARRAY(
      SELECT a.id
      FROM skua.backfill_jobs AS j
      JOIN bsky.actors AS a ON a.did = j.did
      WHERE j.state = 'running' AND j.lease_until > now() - interval '1 hour'
    ));

-- name: metrics_save
INSERT INTO skua.metrics (source, at, metrics)
VALUES ($1, now(), $2::text::jsonb)
ON CONFLICT (source)
DO UPDATE SET at = EXCLUDED.at, metrics = EXCLUDED.metrics;

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
-- If the import overlaps the cursor and ends later, the cursor covers both. If the import ends before the cursor begins, the
-- cursor becomes that of the import. If the import begins after the cursor ends, nothing changes.
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
