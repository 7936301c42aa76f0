-- name: consumers_lock_next
SELECT
FROM skua.consumer_lanes AS l
WHERE l.consumer_id = $1::int4 AND l.lane = $2::int4 AND l.pos = $3::int8
FOR UPDATE SKIP LOCKED;

-- name: consumers_block_lane
UPDATE skua.consumer_lanes
SET is_blocked = true
WHERE consumer_id = $1::int4 AND lane = $2::int4;
