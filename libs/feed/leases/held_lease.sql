-- fragment: lane_not_leased
-- The columns of a lane that say who leases it, and what.
owner = NULL, lease_until = NULL, leased_end = NULL, leased_count = NULL, leased_key = NULL

-- name: leases_lock
SELECT c.name, c.policy, l.pos, l.leased_end, l.leased_count, l.attempts, l.leased_key
FROM skua.consumer_lanes AS l
JOIN skua.consumers AS c ON c.id = l.consumer_id
WHERE l.consumer_id = $1::int4 AND l.lane = $2::int4 AND l.epoch = $3::int8 AND l.owner = $4::text
FOR UPDATE OF l;

-- name: leases_release
UPDATE skua.consumer_lanes
SET {{lane_not_leased}}
WHERE consumer_id = $1::int4 AND lane = $2::int4;

-- name: leases_move
UPDATE skua.consumer_lanes
SET pos = $3, served_at = clock_timestamp(), batch = CASE WHEN batch < 1000000 THEN batch * 2 END, {{lane_succeeded}}
WHERE consumer_id = $1 AND lane = $2::int4;
