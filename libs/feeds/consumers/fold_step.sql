-- name: consumers_advance
-- A failure halves the batch of a lane; each success doubles the batch again.
UPDATE skua.consumer_lanes
SET pos = $3, epoch = epoch + 1, served_at = now(), batch = CASE WHEN batch < 1000000 THEN batch * 2 END,
  {{lane_succeeded}}
WHERE consumer_id = $1 AND lane = $2::int4;

-- name: consumers_lock_next
SELECT
FROM skua.consumer_lanes AS l
WHERE l.consumer_id = $1::int4 AND l.lane = $2::int4 AND l.pos = $3::int8
FOR UPDATE SKIP LOCKED;

-- name: consumers_block_lane
UPDATE skua.consumer_lanes
SET is_blocked = true, retry_at = NULL
WHERE consumer_id = $1::int4 AND lane = $2::int4;

-- name: consumers_choose
-- Chooses the lane that has waited longest, among the lanes with work that is due. $9 has consumers that are left out. $10: true
-- for projections of users, false for built-in ones, null for all. $11 has the only consumers; empty for all.
SELECT c.id, c.name, c.profile, c.overrides::text, l.lane, c.lanes, l.pos, least(e.log_end, l.pos + least(l.batch, p.batch)),
  l.waiting_pos IS NOT NULL,
  l.pos >= e.log_end OR EXISTS (SELECT 1 FROM skua.change_log AS b WHERE b.pos <= l.pos),
  EXISTS (
    SELECT FROM skua.change_log AS b
    WHERE b.pos >= l.pos AND b.pos < least(e.log_end, l.pos + least(l.batch, p.batch)) AND b.n = 1 AND b.kind = '{5}'
  ), coalesce(c.definition, '')
FROM (SELECT skua.change_log_end() AS log_end WHERE NOT EXISTS (SELECT 1 FROM skua.dropped_indexes)) AS e
CROSS JOIN skua.consumers AS c
JOIN skua.consumer_lanes AS l ON l.consumer_id = c.id
{{tuning}}
WHERE c.kind = 'projection' AND c.state = 'running' AND c.role <> 'retired' AND NOT c.paused
  AND NOT l.is_blocked
  AND (l.pos < e.log_end OR l.waiting_pos IS NOT NULL)
  AND (l.retry_at IS NULL OR l.retry_at <= clock_timestamp())
  AND ($7::text = '' OR c.name = $7::text)
  AND c.id <> ALL ($9::int4[])
  AND ($10::boolean IS NULL OR (c.definition IS NOT NULL) = $10::boolean)
  AND ($11::int4[] = '{}' OR c.id = ANY ($11::int4[]))
  AND ($8::boolean
    OR l.served_at + p.pause * interval '1 millisecond' <= clock_timestamp()
    OR e.log_end - l.pos >= p.batch
    OR l.waiting_pos IS NOT NULL AND NOT l.is_paced)
ORDER BY l.served_at
LIMIT 1
FOR UPDATE OF l SKIP LOCKED;

-- name: consumers_take_processor
-- Takes one of $2 locks of a consumer for the transaction, if one is free.
SELECT EXISTS (
  SELECT FROM generate_series(0, $2::int4 - 1) AS n WHERE pg_try_advisory_xact_lock(1936422152, $1::int4 * 64 + n)
);

-- name: consumers_halve
UPDATE skua.consumer_lanes
SET batch = $4, error = $5, cause = $6, served_at = clock_timestamp(), {{lane_failed}}
WHERE consumer_id = $1 AND lane = $2::int4 AND pos = $3;

-- name: consumers_fail
UPDATE skua.consumer_lanes AS l
SET attempts = least(l.attempts, 1000000000) + 1, error = $10, cause = $11, batch = 1, served_at = clock_timestamp(),
  retry_at = clock_timestamp()
    + least(p.retry * power(2, least(l.attempts, 20)), p.max_retry) * interval '1 millisecond',
  {{lane_failed}}
FROM skua.consumers AS c
{{tuning}}
WHERE c.id = $7 AND l.consumer_id = c.id AND l.lane = $8::int4 AND l.pos = $9
RETURNING l.attempts >= p.max_attempts, c.policy;

-- name: consumers_wait
UPDATE skua.consumer_lanes AS l
SET error = $10, cause = $11, served_at = clock_timestamp(),
  retry_at = clock_timestamp()
    + least(p.retry * power(2, least(l.failures, 20)), p.max_retry) * interval '1 millisecond',
  {{lane_failed}}
FROM skua.consumers AS c
{{tuning}}
WHERE c.id = $7 AND l.consumer_id = c.id AND l.lane = $8::int4 AND l.pos = $9
RETURNING l.failures >= p.max_attempts, c.policy;
