-- name: cursor_load
SELECT cursor FROM skua.cursors WHERE source = $1;

-- name: cursor_save
INSERT INTO skua.cursors (source, cursor, event_time, saved_at)
VALUES ($1, $2::int8, $3::timestamptz, now())
ON CONFLICT (source)
DO UPDATE SET cursor = EXCLUDED.cursor, event_time = EXCLUDED.event_time, saved_at = EXCLUDED.saved_at;

-- name: cursor_purge_tombstones
-- While a backfill of a repository runs, its CAR may still contain records that were deleted since.
-- Such accounts are few, so they are looked up once and not for each tombstone. A job that was not
-- updated for an hour writes no more rows (its lease has expired, and it can no longer finish; the
-- hour allows for different clocks), so no tombstone stays forever.
DELETE FROM skua.tombstones
WHERE source = $1
  AND seq <= $2::int8
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
