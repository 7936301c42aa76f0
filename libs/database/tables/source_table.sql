-- name: sources_read
-- The name of the metrics of a backfill has no host, and therefore no colon.
SELECT coalesce(c.source, f.source), c.cursor, c.saved_at, c.event_time,
  extract(epoch FROM now() - c.event_time)::float8, f.metrics::text, extract(epoch FROM now() - f.at)::float8
FROM skua.cursors AS c
FULL JOIN (SELECT * FROM skua.metrics WHERE source LIKE '%:%') AS f USING (source)
ORDER BY 1;

-- name: sources_forget_cursor
DELETE FROM skua.cursors WHERE source = $1;

-- name: sources_forget_metrics
DELETE FROM skua.metrics WHERE source = $1;

-- name: sources_tombstones
SELECT count(*) FROM skua.tombstones WHERE source = $1;
