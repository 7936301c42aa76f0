-- name: report_free_lanes
-- The lanes that no other session works on now.
SELECT consumer_id, lane FROM skua.consumer_lanes FOR UPDATE SKIP LOCKED;
