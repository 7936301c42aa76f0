-- name: projection_lock_live
SELECT c.id
FROM skua.consumers AS c
JOIN skua.consumer_lanes AS l ON l.consumer_id = c.id
WHERE c.name = $1::text AND c.role = 'live'
ORDER BY l.lane
FOR UPDATE OF l;
