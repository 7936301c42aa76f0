-- name: leases_renew
UPDATE skua.consumer_lanes
SET lease_until = clock_timestamp() + $3::int8 * interval '1 millisecond'
WHERE consumer_id = $1 AND lane = $2::int4;

-- name: leases_account
SELECT c.actor_id FROM skua.changes_between($1::int8, $1::int8 + 1) AS c;

-- fragment: retry
-- The columns of a lane, or of waiting changes, t, which are tried again later.
attempts = $9, batch = coalesce($10::int4, t.batch), error = $11, served_at = clock_timestamp(),
  retry_at = clock_timestamp() + interval '1 millisecond'
    * coalesce($12::int8, least(p.retry * power(2, least(greatest($9::int4 - 1, 0), 20)), p.max_retry))

-- name: leases_retry_lane
UPDATE skua.consumer_lanes AS t
SET cause = $13, {{lane_failed}}, {{retry}}
FROM skua.consumers AS c
{{tuning}}
WHERE c.id = $7 AND t.consumer_id = c.id AND t.lane = $8::int4;

-- name: leases_retry_waiting
UPDATE skua.waiting_changes AS t
SET {{retry}}
FROM skua.consumers AS c
{{tuning}}
WHERE c.id = $7 AND t.consumer_id = c.id AND t.lane = $8::int4 AND t.actor_id = $13 AND t.pos = $14;

-- name: leases_limits
SELECT p.max_attempts, p.max_retry::int8
FROM skua.consumers AS c
{{tuning}}
WHERE c.id = $7;

-- name: leases_block
UPDATE skua.consumer_lanes
SET is_blocked = true, attempts = $3, error = $4, cause = $5, batch = 1, {{lane_failed}}
WHERE consumer_id = $1 AND lane = $2::int4;

-- name: leases_note_unreadable
UPDATE skua.consumer_lanes SET error = $2, cause = 'tables', {{lane_failed}} WHERE consumer_id = $1;
