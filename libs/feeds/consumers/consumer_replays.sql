-- name: consumers_change
SELECT c.op, c.actor_id, c.collection_id, c.rkey, s.timeline
FROM skua.change_log_state AS s
CROSS JOIN skua.changes_between($1::int8, $1::int8 + 1) AS c;

-- name: consumers_lock_lane
SELECT l.start, s.timeline, EXISTS (SELECT 1 FROM skua.change_log AS b WHERE b.pos <= $3::int8)
FROM skua.change_log_state AS s
CROSS JOIN skua.consumer_lanes AS l
WHERE l.consumer_id = $1::int4 AND l.lane = $2::int4
FOR UPDATE OF l;
