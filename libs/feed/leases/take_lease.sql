-- name: leases_take
UPDATE skua.consumer_lanes
SET epoch = $3::int8, owner = $4::text, lease_until = clock_timestamp() + $5::int8 * interval '1 millisecond',
  leased_key = $6::int8, leased_end = $7::int8, leased_count = 0
WHERE consumer_id = $1::int4 AND lane = $2::int4;

-- name: leases_note_batch
UPDATE skua.consumer_lanes
SET leased_end = $3::int8, leased_count = $4::int4
WHERE consumer_id = $1::int4 AND lane = $2::int4;

-- name: leases_choose
-- The lane that waits longest, of those that have changes that are due. w: the oldest waiting changes of an account that
-- are due. An account has one batch at a time, so its oldest ones come first.
SELECT l.lane, c.lanes, l.epoch + 1, l.pos, e.log_end, d.is_due, least(coalesce(l.batch, p.batch), p.batch),
  w.actor_id, w.pos, coalesce(w.until, l.pos), least(coalesce(w.batch, p.batch), p.batch), w.served_at <= l.served_at
FROM (SELECT skua.change_log_end() AS log_end WHERE NOT EXISTS (SELECT 1 FROM skua.dropped_indexes)) AS e
CROSS JOIN skua.consumers AS c
JOIN skua.consumer_lanes AS l ON l.consumer_id = c.id
{{tuning}}
CROSS JOIN LATERAL (
  SELECT l.pos < e.log_end
    AND (l.retry_at IS NULL OR l.retry_at <= clock_timestamp())
    AND ($8::boolean
      OR l.served_at + p.pause * interval '1 millisecond' <= clock_timestamp()
      OR e.log_end - l.pos >= p.batch) AS is_due
) AS d
LEFT JOIN LATERAL (
  SELECT v.* FROM skua.waiting_changes AS v
  WHERE v.consumer_id = c.id AND v.lane = l.lane AND v.is_open
    AND (v.retry_at IS NULL OR v.retry_at <= clock_timestamp())
    AND NOT EXISTS (
      SELECT FROM skua.waiting_changes AS o
      WHERE o.consumer_id = c.id AND o.lane = l.lane AND o.actor_id = v.actor_id AND o.pos < v.pos
    )
  ORDER BY v.served_at
  LIMIT 1
) AS w ON true
WHERE c.id = $7 AND c.kind <> 'projection' AND c.state = 'running' AND c.role = 'live' AND NOT c.paused
  AND NOT l.is_blocked
  AND (l.lease_until IS NULL OR l.lease_until <= clock_timestamp())
  AND (d.is_due OR w.pos IS NOT NULL)
ORDER BY l.served_at
LIMIT 1
FOR UPDATE OF l SKIP LOCKED;
